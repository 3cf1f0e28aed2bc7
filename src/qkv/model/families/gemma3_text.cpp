#include "qkv/model/families/families.hpp"
#include "qkv/model/families/gemma_like.hpp"

/// Gemma 3 without pictures: windows in all but every sixth layer, which turn queries and keys by other angles than the
/// layers that see everything; queries and keys are normed head by head.
namespace qkv {
namespace {

/// Every how many layers one sees everything.
std::int64_t read_pattern(const JsonReader& reader) {
  const auto older = reader.integer_or("sliding_window_pattern", 6, layer_range);
  return reader.integer_or("_sliding_window_pattern", older, layer_range);
}

PositionConfig read_position(const JsonReader& reader, const Config& config, const std::vector<bool>& sliding) {
  const auto head_dim = config.attention.head_dim;
  const auto theta = reader.number_or("rope_theta", 1e6, theta_range);
  PositionConfig position;
  position.kind = PositionConfig::Kind::rotary;
  position.second_rotary = RotaryConfig{reader.number_or("rope_local_base_freq", 1e4, theta_range), head_dim, {}, {}};
  if (const auto by_type = reader.object_if("rope_parameters")) {
    const RotaryKeys keys{head_dim, config.n_ctx, 0, head_dim};
    position.rotary = read_rotary_parameters(by_type->object("full_attention"), keys, theta);
    position.second_rotary =
        read_rotary_parameters(by_type->object("sliding_attention"), keys, position.second_rotary->theta);
    by_type->refuse_unread();
  } else {
    position.rotary = read_whole_rotary(reader, config, {.theta = theta}).rotary;
  }
  for (const bool slides : sliding) position.rotary_of_layer.push_back(slides ? 1 : 0);
  return position;
}

Config read(const JsonReader& reader) {
  auto config = read_gemma_like(
      reader,
      {.n_ctx = 131072, .n_kv_heads = 4, .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh"});
  read_gemma2_extras(reader, 0.0, 0.0, config);
  config.attention.qk_norm = {QkNormConfig::Kind::head, config.norm};
  const auto pattern = read_pattern(reader);
  const auto sliding =
      read_sliding_layers(reader, config.n_layers, [&](std::int64_t layer) { return (layer + 1) % pattern != 0; });
  config.attention.windows = windows_of(reader, sliding, read_window(reader, 4096));
  config.position = read_position(reader, config, sliding);
  return config;
}

/// The name of the models that see pictures too, whose language half is a part of the config; some that only read text
/// carry it as well.
Config read_outer(const JsonReader& reader) {
  for (const auto* key : {"vision_config", "text_config"})
    if (reader.has(key)) reader.fail(key, "a model that only reads text (one that sees pictures is not opened)");
  return read(reader);
}

}  // namespace

Family gemma3_text_family() { return {"gemma3_text", "Gemma3ForCausalLM", read, bind_llama_like}; }
Family gemma3_family() { return {"gemma3", "", read_outer, bind_llama_like}; }

}  // namespace qkv
