#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "qkv/io/formats/gguf.hpp"
#include "qkv/io/json_reader.hpp"
#include "qkv/model/families/gguf_architectures.hpp"

namespace qkv {

/// Whether a tensor holds factors that stretch the rotary rates.
[[nodiscard]] bool is_rotary_factors(std::string_view name);

/// Puts `rope_scaling` into the config, from the metadata and from the tensors of factors, and the share of a head that
/// is turned; where the architecture has no key for that, it must be all of it. Throws Error{model} naming what is not
/// understood.
void add_rotary(const GgufFile& file, const JsonReader& metadata, const GgufArchitecture& architecture,
                nlohmann::json& config);

}  // namespace qkv
