#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/model/config.hpp"
#include "qkv/model/weight_binder.hpp"

namespace qkv {

/// One way to publish a model: what its config.json means, and what its tensors are called.
struct Family {
  std::string_view name;          // `model_type` in config.json
  std::string_view architecture;  // in `architectures`, for configs that have no `model_type`
  Config (*read_config)(const JsonReader& reader);
  Weights (*bind)(const Config& config, WeightBinder& binder);
};

/// Every family. A new one is one more file under families/ and one more line in family.cpp.
[[nodiscard]] std::span<const Family> families();

/// The family that a config.json belongs to. Throws Error{model} with the names known when there is none.
[[nodiscard]] const Family& find_family(const JsonReader& reader);

/// Reads and checks a whole config.json. Keys that the family did not read and that are not known to be harmless are
/// refused by name: they might change the arithmetic. `ignored_keys` are let through.
[[nodiscard]] Config read_config(const Family& family, const JsonReader& reader,
                                 std::span<const std::string> ignored_keys = {});

}  // namespace qkv
