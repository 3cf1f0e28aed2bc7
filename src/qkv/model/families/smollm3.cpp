#include <fmt/format.h>

#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// SmolLM3: every fourth layer has no positions, and may have a window instead.
namespace qkv {
namespace {

/// Which layers have rotary positions: 1 in `no_rope_layers`, in spite of its name.
std::vector<bool> read_layers_with_rotary(const JsonReader& reader, std::int64_t n_layers) {
  const auto interval = reader.integer_or("no_rope_layer_interval", 4, layer_range);
  std::vector<bool> with;
  if (!reader.has("no_rope_layers")) {
    for (std::int64_t layer = 0; layer < n_layers; ++layer) with.push_back((layer + 1) % interval != 0);
    return with;
  }
  for (const auto number : reader.integers("no_rope_layers", {0, 1})) with.push_back(number == 1);
  if (static_cast<std::int64_t>(with.size()) < n_layers)
    reader.fail("no_rope_layers", fmt::format("a number for each of {} layers", n_layers));
  with.resize(static_cast<std::size_t>(n_layers));
  return with;
}

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {.n_ctx = 32768, .n_kv_heads = 4, .tied = true});
  config.position = read_whole_rotary(reader, config, {.theta = 2e6});
  const auto with_rotary = read_layers_with_rotary(reader, config.n_layers);
  for (const bool with : with_rotary) config.position.rotary_of_layer.push_back(with ? 0 : -1);

  const auto given = read_window(reader, 0);
  const auto window = reader.boolean_or("use_sliding_window", false) ? given : 0;
  const auto sliding = read_sliding_layers(reader, config.n_layers, [&](std::int64_t layer) {
    return window > 0 && !with_rotary[static_cast<std::size_t>(layer)];
  });
  config.attention.windows = windows_of(reader, sliding, window);
  read_attention_bias(reader, config.attention);
  config.mlp.bias_in = config.mlp.bias_out = reader.boolean_or("mlp_bias", false);
  reader.ignore("max_window_layers");  // left over from another family's config
  return config;
}

}  // namespace

Family smollm3_family() { return {"smollm3", "SmolLM3ForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
