#pragma once

#include <nlohmann/json.hpp>

#include "qkv/io/json_reader.hpp"
#include "qkv/model/config.hpp"

namespace qkv {

/// The config.json of the project's own form, both ways, from one list of fields: what is added there is read and
/// written.
///
/// Throws Error{model} naming the key that is absent, out of its range or not known.
[[nodiscard]] Config read_native_config(const JsonReader& reader);
/// What read_native_config() turns into the same Config, but for `family`.
[[nodiscard]] nlohmann::ordered_json native_config_json(Config config);

}  // namespace qkv
