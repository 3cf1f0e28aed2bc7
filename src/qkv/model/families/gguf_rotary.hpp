#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "qkv/io/formats/gguf.hpp"
#include "qkv/io/json_reader.hpp"

namespace qkv {

/// A tensor in which GGUF keeps factors that stretch the rotary rates.
inline constexpr std::string_view rotary_factors_name = "rope_freqs.weight";

/// Puts `rope_scaling` into the config, from the metadata and from the tensor of factors, and checks that whole heads
/// are turned. Throws Error{model} naming what is not understood.
void add_rotary(const GgufFile& file, const JsonReader& metadata, std::string_view architecture,
                nlohmann::json& config);

}  // namespace qkv
