#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// Mistral: a window of keys in every layer, unless `sliding_window` is null.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {.n_ctx = 131072, .n_kv_heads = 8});
  config.position = read_whole_rotary(reader, config);
  const std::vector<bool> sliding(static_cast<std::size_t>(config.n_layers), true);
  if (const auto window = read_window(reader, 4096); window > 0)
    config.attention.windows = windows_of(reader, sliding, window);
  require_false(reader, "attention_bias");
  return config;
}

}  // namespace

Family mistral_family() { return {"mistral", "MistralForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
