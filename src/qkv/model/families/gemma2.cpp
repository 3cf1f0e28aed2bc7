#include "qkv/model/families/families.hpp"
#include "qkv/model/families/gemma_like.hpp"

/// Gemma 2: windows in every other layer, the first one included.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_gemma_like(
      reader,
      {.n_ctx = 8192, .n_kv_heads = 4, .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh"});
  read_gemma2_extras(reader, 50.0, 30.0, config);
  config.position = read_whole_rotary(reader, config);
  const auto sliding = read_sliding_layers(reader, config.n_layers, [](std::int64_t layer) { return layer % 2 == 0; });
  config.attention.windows = windows_of(reader, sliding, read_window(reader, 4096));
  return config;
}

}  // namespace

Family gemma2_family() { return {"gemma2", "Gemma2ForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
