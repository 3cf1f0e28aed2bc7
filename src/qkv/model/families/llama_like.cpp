#include "qkv/model/families/llama_like.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace qkv {
namespace {

AttentionConfig read_heads(const JsonReader& reader, std::int64_t d_model, const LlamaDefaults& defaults) {
  AttentionConfig attention;
  attention.n_heads = reader.integer("num_attention_heads", head_range);
  const bool as_heads = defaults.n_kv_heads == 0 || reader.is_null("num_key_value_heads");
  attention.n_kv_heads =
      reader.integer_or("num_key_value_heads", as_heads ? attention.n_heads : defaults.n_kv_heads, head_range);
  const auto head_dim = reader.has("head_dim") || defaults.head_dim > 0
                            ? defaults.head_dim
                            : divide_into_heads(reader, "hidden_size", d_model, attention.n_heads);
  attention.head_dim = reader.integer_or("head_dim", head_dim, width_range);
  attention.scale = 1.0 / std::sqrt(static_cast<double>(attention.head_dim));
  return attention;
}

/// Before `embed_tokens`, `layers` and `norm`. Models that also see pictures keep their language half apart.
std::string root_of(const WeightBinder& binder) {
  for (const std::string root : {"model.", "language_model.model.", "model.language_model."})
    if (binder.has(root + "embed_tokens.weight")) return root;
  return "";
}

/// How W_q W_k W_v and W_gate W_in are stored.
enum class Stored { apart, fused };

/// The norm of queries or keys, where there is one.
NormRef bind_qk_norm(const Config& config, WeightBinder& binder, const std::string& name, std::int64_t n_heads) {
  const auto& [kind, norm] = config.attention.qk_norm;
  const auto head_dim = config.attention.head_dim;
  switch (kind) {
    case QkNormConfig::Kind::none:
      return {};
    case QkNormConfig::Kind::head:
      return binder.norm(weight_and_bias(name), norm, Shape{head_dim});
    case QkNormConfig::Kind::own_head:
      return binder.norm(weight_and_bias(name), norm, Shape{n_heads, head_dim});
    case QkNormConfig::Kind::whole:
      return binder.norm(weight_and_bias(name), norm, Shape{n_heads * head_dim});
  }
  return {};
}

void bind_attention(const Config& config, WeightBinder& binder, const std::string& block, Stored stored,
                    BlockWeights& weights) {
  const auto& a = config.attention;
  const auto d = config.d_model;
  const auto name = [&](const char* part) { return weight_and_bias(block + "self_attn." + part); };
  if (stored == Stored::fused) {
    const auto all = binder.linear(name("qkv_proj"), a.q_width() + 2 * a.kv_width(), d, a.bias_q);
    weights.W_q = all.outputs(0, a.q_width());
    weights.W_k = all.outputs(a.q_width(), a.kv_width());
    weights.W_v = all.outputs(a.q_width() + a.kv_width(), a.kv_width());
  } else {
    weights.W_q = binder.linear(name("q_proj"), a.q_width(), d, a.bias_q);
    weights.W_k = binder.linear(name("k_proj"), a.kv_width(), d, a.bias_k);
    weights.W_v = binder.linear(name("v_proj"), a.kv_width(), d, a.bias_v);
  }
  weights.W_o = binder.linear(name("o_proj"), d, a.q_width(), a.bias_o);
  weights.q_norm = bind_qk_norm(config, binder, block + "self_attn.q_norm", a.n_heads);
  weights.k_norm = bind_qk_norm(config, binder, block + "self_attn.k_norm", a.n_kv_heads);
  binder.ignore(block + "self_attn.rotary_emb.inv_freq");  // computed from the config
}

void bind_mlp(const Config& config, WeightBinder& binder, const std::string& block, Stored stored,
              BlockWeights& weights) {
  const auto d = config.d_model;
  const auto d_ff = config.mlp.d_ff;
  const auto name = [&](const char* part) { return weight_and_bias(block + "mlp." + part); };
  if (stored == Stored::fused) {
    const auto both = binder.linear(name("gate_up_proj"), 2 * d_ff, d, config.mlp.bias_in);
    weights.W_gate = both.outputs(0, d_ff);
    weights.W_in = both.outputs(d_ff, d_ff);
  } else {
    weights.W_in = binder.linear(name("up_proj"), d_ff, d, config.mlp.bias_in);
    weights.W_gate = binder.linear(name("gate_proj"), d_ff, d, config.mlp.bias_in);
  }
  weights.W_out = binder.linear(name("down_proj"), d, d_ff, config.mlp.bias_out);
}

BlockWeights bind_block(const Config& config, WeightBinder& binder, const std::string& block, Stored stored) {
  const auto& places = config.norm_places;
  const auto norm = [&](const char* part) { return binder.norm(weight_and_bias(block + part), config); };
  BlockWeights weights;
  if (places.before) weights.attn_norms.before = norm("input_layernorm");
  bind_attention(config, binder, block, stored, weights);
  // "post_attention" is the norm of what the attention adds where there is one, else the one that the MLP reads
  // through.
  if (places.after) weights.attn_norms.after = norm("post_attention_layernorm");
  if (places.before && config.residual == Residual::sequential)
    weights.mlp_norms.before = norm(places.after ? "pre_feedforward_layernorm" : "post_attention_layernorm");
  bind_mlp(config, binder, block, stored, weights);
  if (places.after) weights.mlp_norms.after = norm("post_feedforward_layernorm");
  return weights;
}

Weights bind_all(const Config& config, WeightBinder& binder, Stored stored) {
  const auto root = root_of(binder);
  Weights weights;
  weights.tokens = binder.matrix(root + "embed_tokens.weight", config.n_vocab, config.d_model);
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    weights.blocks.push_back(bind_block(config, binder, fmt::format("{}layers.{}.", root, i), stored));
  weights.final_norm = binder.norm(weight_and_bias(root + "norm"), config);
  const bool inside = root == "language_model.model.";
  weights.head = binder.head(weight_and_bias(inside ? "language_model.lm_head" : "lm_head"), config, weights.tokens);
  binder.ignore(root + "rotary_emb.inv_freq");
  return weights;
}

}  // namespace

Config read_llama_like(const JsonReader& reader, const LlamaDefaults& defaults) {
  Config config;
  config.n_layers = reader.integer("num_hidden_layers", layer_range);
  config.d_model = reader.integer("hidden_size", width_range);
  config.n_vocab = reader.integer("vocab_size", vocabulary_range);
  config.n_ctx = reader.integer_or("max_position_embeddings", defaults.n_ctx, context_range);
  const auto epsilon = defaults.epsilon_key.empty()
                           ? defaults.epsilon
                           : reader.number_or(defaults.epsilon_key, defaults.epsilon, epsilon_range);
  config.norm = {NormConfig::Kind::rms, static_cast<float>(epsilon), false};
  config.attention = read_heads(reader, config.d_model, defaults);
  config.mlp = {true, read_published_activation(reader, defaults.activation_key, defaults.activation),
                reader.integer("intermediate_size", width_range), false, false};
  config.head.tied = reader.boolean_or("tie_word_embeddings", defaults.tied);
  read_tokens(reader, config);
  reader.ignore("pretraining_tp");  // how the products were cut up in training; the sums are the same
  return config;
}

PositionConfig read_whole_rotary(const JsonReader& reader, const Config& config, const RotaryDefaults& defaults) {
  return read_rotary(reader, config.attention.head_dim, config.n_ctx, defaults);
}

void read_attention_bias(const JsonReader& reader, AttentionConfig& attention) {
  attention.bias_q = attention.bias_k = attention.bias_v = attention.bias_o =
      reader.boolean_or("attention_bias", false);
}

void require_false(const JsonReader& reader, std::string_view key) {
  if (reader.boolean_or(key, false)) reader.fail(key, "false");
}

std::int64_t read_window(const JsonReader& reader, std::int64_t absent) {
  return reader.integer_or("sliding_window", reader.is_null("sliding_window") ? 0 : absent, context_range);
}

std::vector<bool> read_sliding_layers(const JsonReader& reader, std::int64_t n_layers,
                                      const std::function<bool(std::int64_t layer)>& absent) {
  std::vector<bool> sliding;
  if (!reader.has("layer_types")) {
    for (std::int64_t layer = 0; layer < n_layers; ++layer) sliding.push_back(absent(layer));
    return sliding;
  }
  const auto& types = reader.raw("layer_types");
  if (!types.is_array() || static_cast<std::int64_t>(types.size()) != n_layers)
    reader.fail("layer_types", fmt::format("an array with a type for each of {} layers", n_layers));
  for (const auto& type : types) {
    if (type != "full_attention" && type != "sliding_attention")
      reader.fail("layer_types", "an array of \"full_attention\" and \"sliding_attention\"");
    sliding.push_back(type == "sliding_attention");
  }
  return sliding;
}

std::vector<std::int64_t> windows_of(const JsonReader& reader, const std::vector<bool>& sliding, std::int64_t window) {
  if (std::find(sliding.begin(), sliding.end(), true) == sliding.end()) return {};
  if (window == 0) reader.fail("sliding_window", "how many keys the sliding layers see");
  std::vector<std::int64_t> windows;
  for (const bool slides : sliding) windows.push_back(slides ? window : 0);
  return windows;
}

Weights bind_llama_like(const Config& config, WeightBinder& binder) { return bind_all(config, binder, Stored::apart); }
Weights bind_llama_fused(const Config& config, WeightBinder& binder) { return bind_all(config, binder, Stored::fused); }

}  // namespace qkv
