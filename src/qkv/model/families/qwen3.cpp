#include "qkv/model/families/families.hpp"
#include "qkv/model/families/qwen_windows.hpp"

/// Qwen 3: queries and keys are normed head by head, and heads have a width of their own.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {.n_ctx = 32768, .n_kv_heads = 32, .head_dim = 128});
  config.position = read_whole_rotary(reader, config);
  config.attention.qk_norm = {QkNormConfig::Kind::head, config.norm};
  read_attention_bias(reader, config.attention);
  read_qwen_windows(reader, config);
  return config;
}

}  // namespace

Family qwen3_family() { return {"qwen3", "Qwen3ForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
