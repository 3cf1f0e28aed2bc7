#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/io/weight_source.hpp"
#include "qkv/model/config.hpp"
#include "qkv/model/weight_binder.hpp"

namespace qkv {

/// A model found to be complete: what it computes, and where each of its numbers is to be found. None has been read.
struct ModelFiles {
  std::filesystem::path path;  // the directory or file; empty where there is none
  std::string_view format;     // of the weights, for people
  Config config;
  std::shared_ptr<const WeightSource> source;  // the references in `weights` point into it
  Weights weights;
  std::vector<AskedTensor> asked;    // every tensor that is needed, with its shape
  std::vector<std::string> ignored;  // tensors that are there and not needed

  /// Bytes of all stored tensors.
  [[nodiscard]] std::int64_t byte_count() const;
};

struct Family;

/// Finds every tensor that the family asks for in `source`. Throws Error{model}, beginning with `where`, that lists all
/// that is missing, left over, or not what the config asks for.
[[nodiscard]] ModelFiles bind_model(const Family& family, Config config, std::shared_ptr<const WeightSource> source,
                                    const std::string& where);

/// Opens a model directory, or a file that holds a whole model. Throws Error{model} naming file, key or tensor when it
/// is not a model that can be run. `ignored_keys` of its config are let through though nobody understands them.
[[nodiscard]] ModelFiles open_model_files(const std::filesystem::path& path,
                                          std::span<const std::string> ignored_keys = {});

/// A model as far as its config.json goes: what it would compute, and the tensors that would have to be there.
struct ModelOutline {
  Config config;
  std::vector<AskedTensor> asked;
};

/// Throws Error{model} like open_model_files().
[[nodiscard]] ModelOutline outline_model(const JsonReader& config, std::span<const std::string> ignored_keys = {});

}  // namespace qkv
