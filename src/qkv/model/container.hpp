#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/io/weight_source.hpp"
#include "qkv/model/config.hpp"

namespace qkv {

/// What a model's files hold, before anyone knows whether it fits together.
struct ContainerFiles {
  JsonReader config;                         // in the keys that the family publishes
  std::function<OpenedWeights()> weights;    // their names in the file and those of the family are brought together
  std::vector<std::int64_t> end_tokens;      // beside those that the config names
  std::function<void(Config&)> adjust = {};  // what the family's keys cannot say, where there is such
};

/// One way to keep a whole model: a directory with config.json and weights, or one file with everything in it.
struct Container {
  std::string_view name;
  /// Whether something is kept this way. Only looks for files, and at the first bytes of one.
  bool (*recognises)(const std::filesystem::path& path);
  /// Throws Error{model} when a file is not what it claims to be.
  ContainerFiles (*open)(const std::filesystem::path& path);
  /// Where the tokenizer is: a directory or a file, which need not be there.
  std::filesystem::path (*tokenizer)(const std::filesystem::path& path);
};

/// Every container, in the order they are tried. A new one is one more line in container.cpp.
[[nodiscard]] std::span<const Container> containers();

/// Throws Error{model} naming what was expected when there is nothing at `path`, or nothing that is a model.
[[nodiscard]] ContainerFiles open_container(const std::filesystem::path& path);

/// The same without opening anything.
void require_container(const std::filesystem::path& path);

/// Where to look for the tokenizer of a model; the path itself where nobody knows better.
[[nodiscard]] std::filesystem::path tokenizer_path(const std::filesystem::path& model);

/// The only file in a directory without config.json whose name ends so, for containers that are one file.
[[nodiscard]] std::optional<std::filesystem::path> only_file(const std::filesystem::path& directory,
                                                             std::string_view ending);

}  // namespace qkv
