#include <fmt/format.h>

#include <array>

#include "qkv/model/choices.hpp"
#include "qkv/model/config_keys.hpp"
#include "qkv/model/families/families.hpp"

/// The project's own form: every choice of a Config is spelled out, none has a default, and each tensor is called what
/// the block calls it.
namespace qkv {
namespace {

constexpr IntegerRange format_versions{1, 1};
constexpr NumberRange any_scale{-1e6, 1e6};
constexpr NumberRange factor_range{1e-3, 1e6};

RotaryScaling read_scaling(const JsonReader& reader) {
  RotaryScaling scaling;
  scaling.kind = read_scaling_kind(reader, "kind");
  if (scaling.kind != RotaryScaling::Kind::none) scaling.factor = reader.number("factor", factor_range);
  if (scaling.kind == RotaryScaling::Kind::llama3) {
    scaling.low_frequency_factor = reader.number("low_frequency_factor", factor_range);
    scaling.high_frequency_factor = reader.number("high_frequency_factor", factor_range);
    scaling.original_n_ctx = static_cast<double>(reader.integer("original_n_ctx", context_range));
    if (scaling.high_frequency_factor <= scaling.low_frequency_factor)
      reader.fail("high_frequency_factor",
                  fmt::format("more than low_frequency_factor {}", scaling.low_frequency_factor));
  }
  reader.refuse_unread();
  return scaling;
}

PositionConfig read_position(const JsonReader& reader) {
  PositionConfig position;
  position.kind = read_position_kind(reader, "kind");
  if (position.kind == PositionConfig::Kind::rotary) {
    position.rotary.theta = reader.number("theta", {1.0, 1e12});
    position.rotary.n_rotated = reader.integer("n_rotated", width_range);
    position.rotary.layout = read_rotary_layout(reader, "layout");
    position.rotary.scaling = read_scaling(reader.object("scaling"));
  }
  reader.refuse_unread();
  return position;
}

NormConfig read_norm(const JsonReader& reader) {
  const NormConfig norm{read_norm_kind(reader, "kind"), static_cast<float>(reader.number("epsilon", epsilon_range)),
                        reader.boolean("bias")};
  reader.refuse_unread();
  return norm;
}

AttentionConfig read_attention(const JsonReader& reader) {
  AttentionConfig attention;
  attention.n_heads = reader.integer("n_heads", head_range);
  attention.n_kv_heads = reader.integer("n_kv_heads", head_range);
  attention.head_dim = reader.integer("head_dim", width_range);
  attention.scale = reader.number("scale", any_scale);
  attention.scale_divided_by_layer = reader.boolean("scale_divided_by_layer");
  attention.bias_q = reader.boolean("bias_q");
  attention.bias_k = reader.boolean("bias_k");
  attention.bias_v = reader.boolean("bias_v");
  attention.bias_o = reader.boolean("bias_o");
  reader.refuse_unread();
  return attention;
}

MlpConfig read_mlp(const JsonReader& reader) {
  MlpConfig mlp;
  const auto kind = reader.text("kind");
  if (kind != "plain" && kind != "gated") reader.fail("kind", "\"plain\" or \"gated\"");
  mlp.gated = kind == "gated";
  mlp.activation = read_activation(reader, "activation");
  mlp.d_ff = reader.integer("d_ff", width_range);
  mlp.bias_in = reader.boolean("bias_in");
  mlp.bias_out = reader.boolean("bias_out");
  reader.refuse_unread();
  return mlp;
}

HeadConfig read_head(const JsonReader& reader) {
  const HeadConfig head{reader.boolean("tied"), reader.boolean("bias")};
  reader.refuse_unread();
  return head;
}

void read_own_tokens(const JsonReader& reader, Config& config) {
  const IntegerRange ids{0, config.n_vocab - 1};
  if (reader.has("bos")) config.bos = static_cast<TokenId>(reader.integer("bos", ids));
  for (const auto id : reader.integers("eos", ids)) config.eos.push_back(static_cast<TokenId>(id));
  reader.refuse_unread();
}

Config read(const JsonReader& reader) {
  Config config;
  (void)reader.integer("format_version", format_versions);
  config.name = reader.text_or("name", "");
  config.n_layers = reader.integer("n_layers", layer_range);
  config.d_model = reader.integer("d_model", width_range);
  config.n_vocab = reader.integer("n_vocab", vocabulary_range);
  config.n_ctx = reader.integer("n_ctx", context_range);
  config.position = read_position(reader.object("position"));
  config.norm = read_norm(reader.object("norm"));
  config.attention = read_attention(reader.object("attention"));
  config.mlp = read_mlp(reader.object("mlp"));
  if (reader.text("residual") != "sequential") reader.fail("residual", "\"sequential\"");
  config.embedding_scale = reader.number("embedding_scale", any_scale);
  config.logit_scale = reader.number("logit_scale", any_scale);
  config.head = read_head(reader.object("head"));
  read_own_tokens(reader.object("tokens"), config);
  return config;
}

NormRef bind_norm(const Config& config, WeightBinder& binder, const std::string& name) {
  return binder.norm({name + ".gain", name + ".bias"}, config);
}

BlockWeights bind_block(const Config& config, WeightBinder& binder, const std::string& block) {
  const auto& a = config.attention;
  const auto d = config.d_model;
  const auto d_ff = config.mlp.d_ff;
  const auto attn = [&](const char* letter) -> TensorNames {
    return {fmt::format("{}.attn.W_{}", block, letter), fmt::format("{}.attn.b_{}", block, letter)};
  };
  const auto mlp = [&](const char* which) -> TensorNames {
    return {fmt::format("{}.mlp.W_{}", block, which), fmt::format("{}.mlp.b_{}", block, which)};
  };
  BlockWeights weights;
  weights.attn_norms.before = bind_norm(config, binder, block + ".attn_norm");
  weights.W_q = binder.linear(attn("q"), a.q_width(), d, a.bias_q);
  weights.W_k = binder.linear(attn("k"), a.kv_width(), d, a.bias_k);
  weights.W_v = binder.linear(attn("v"), a.kv_width(), d, a.bias_v);
  weights.W_o = binder.linear(attn("o"), d, a.q_width(), a.bias_o);
  weights.mlp_norms.before = bind_norm(config, binder, block + ".mlp_norm");
  weights.W_in = binder.linear(mlp("in"), d_ff, d, config.mlp.bias_in);
  if (config.mlp.gated) weights.W_gate = binder.linear(mlp("gate"), d_ff, d, config.mlp.bias_in);
  weights.W_out = binder.linear(mlp("out"), d, d_ff, config.mlp.bias_out);
  return weights;
}

Weights bind(const Config& config, WeightBinder& binder) {
  Weights weights;
  weights.tokens = binder.matrix("embedding.tokens", config.n_vocab, config.d_model);
  if (config.position.kind == PositionConfig::Kind::learned)
    weights.positions = binder.matrix("embedding.positions", config.n_ctx, config.d_model);
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    weights.blocks.push_back(bind_block(config, binder, fmt::format("blocks.{}", i)));
  weights.final_norm = bind_norm(config, binder, "final_norm");
  weights.head = binder.head({"head.W", "head.b"}, config, weights.tokens);
  return weights;
}

}  // namespace

Family native_family() { return {"qkv", "", read, bind}; }

}  // namespace qkv
