#pragma once

#include "qkv/model/container.hpp"

namespace qkv {

/// A directory with config.json, weights in one of the formats, and often generation_config.json and a tokenizer.
[[nodiscard]] Container directory_container();

}  // namespace qkv
