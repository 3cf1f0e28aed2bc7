#pragma once

#include "qkv/model/container.hpp"
#include "qkv/model/family.hpp"

namespace qkv {

[[nodiscard]] Family native_family();
[[nodiscard]] Family gpt2_family();
[[nodiscard]] Family llama_family();

/// GGUF: metadata, tokenizer and tensors of one of many architectures in one file.
[[nodiscard]] Container gguf_container();
/// The files of the program llama2.c, in each of their three versions.
[[nodiscard]] Container llama2c_container();

}  // namespace qkv
