#include <fmt/format.h>

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
  const auto window = read_window(reader, 4096);
  config.attention.windows = windows_of(reader, sliding, window);
  // Written a second time into the configs of the larger models.
  if (reader.integer_or("sliding_window_size", window, {}) != window)
    reader.fail("sliding_window_size", fmt::format("{}, as sliding_window says", window));
  return config;
}

}  // namespace

Family gemma2_family() { return {"gemma2", "Gemma2ForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
