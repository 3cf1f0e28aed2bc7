#pragma once

#include "qkv/model/family.hpp"

namespace qkv {

[[nodiscard]] Family native_family();
[[nodiscard]] Family gpt2_family();
[[nodiscard]] Family llama_family();

}  // namespace qkv
