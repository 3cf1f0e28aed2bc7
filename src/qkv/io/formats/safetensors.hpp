#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "qkv/io/weight_source.hpp"

namespace qkv {

/// `model.safetensors`, or the shards that `model.safetensors.index.json` names.
[[nodiscard]] WeightFormat safetensors_format();

/// Opens one or more .safetensors files as one set of tensors. The layout, as its authors describe it: eight bytes
/// with the header's length, a JSON header of dtype, shape and data_offsets for each name, then the numbers without
/// gaps or overlaps to the end of the file. Anything else is refused with Error{model}.
[[nodiscard]] std::unique_ptr<WeightSource> open_safetensors(const std::vector<std::filesystem::path>& files);

}  // namespace qkv
