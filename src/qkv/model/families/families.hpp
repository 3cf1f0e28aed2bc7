#pragma once

#include "qkv/model/container.hpp"
#include "qkv/model/family.hpp"

namespace qkv {

[[nodiscard]] Family native_family();
[[nodiscard]] Family gpt2_family();
[[nodiscard]] Family llama_family();
[[nodiscard]] Family gpt_neo_family();
[[nodiscard]] Family gpt_neox_family();
[[nodiscard]] Family gptj_family();
[[nodiscard]] Family codegen_family();
[[nodiscard]] Family opt_family();
[[nodiscard]] Family bloom_family();
[[nodiscard]] Family mpt_family();
[[nodiscard]] Family falcon_family();
[[nodiscard]] Family gpt_bigcode_family();
[[nodiscard]] Family starcoder2_family();
[[nodiscard]] Family phi_family();
[[nodiscard]] Family stablelm_family();
[[nodiscard]] Family cohere_family();
[[nodiscard]] Family gemma_family();
[[nodiscard]] Family gemma2_family();
[[nodiscard]] Family gemma3_family();
[[nodiscard]] Family gemma3_text_family();
[[nodiscard]] Family granite_family();
[[nodiscard]] Family mistral_family();
[[nodiscard]] Family olmo_family();
[[nodiscard]] Family olmo2_family();
[[nodiscard]] Family phi3_family();
[[nodiscard]] Family qwen2_family();
[[nodiscard]] Family qwen3_family();
[[nodiscard]] Family smollm3_family();

/// GGUF: metadata, tokenizer and tensors of one of many architectures in one file.
[[nodiscard]] Container gguf_container();
/// The files of the program llama2.c, in each of their three versions.
[[nodiscard]] Container llama2c_container();

}  // namespace qkv
