#pragma once

#include "qkv/io/weight_source.hpp"

namespace qkv {

/// The native format: a directory `weights/` with one headerless little-endian file per tensor, `<name>.<dtype>`,
/// row-major. A file has no shape of its own: its byte count is compared with the shape that the config asks for.
[[nodiscard]] WeightFormat raw_files_format();

}  // namespace qkv
