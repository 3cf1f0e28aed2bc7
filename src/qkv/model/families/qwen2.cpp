#include "qkv/model/families/families.hpp"
#include "qkv/model/families/qwen_windows.hpp"

/// Qwen 2 and 2.5: W_q, W_k and W_v have biases, W_o has none.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {.n_ctx = 32768, .n_kv_heads = 32});
  config.position = read_whole_rotary(reader, config);
  config.attention.bias_q = config.attention.bias_k = config.attention.bias_v = true;
  read_qwen_windows(reader, config);
  require_false(reader, "use_mrope");  // positions of pictures
  return config;
}

}  // namespace

Family qwen2_family() { return {"qwen2", "Qwen2ForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
