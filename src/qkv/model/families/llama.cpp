#include <fmt/format.h>

#include <cmath>

#include "qkv/model/config_keys.hpp"
#include "qkv/model/families/families.hpp"

/// Llama as Hugging Face publishes it: rotary positions on halves of a head, RMS norm, groups of heads that share keys
/// and values, a gated MLP, no biases unless the config says so, an untied head unless the config says so.
namespace qkv {
namespace {

AttentionConfig read_attention(const JsonReader& reader, std::int64_t d_model) {
  AttentionConfig attention;
  attention.n_heads = reader.integer("num_attention_heads", head_range);
  attention.n_kv_heads = reader.integer_or("num_key_value_heads", attention.n_heads, head_range);
  attention.head_dim = reader.has("head_dim") ? reader.integer("head_dim", width_range)
                                              : divide_into_heads(reader, "hidden_size", d_model, attention.n_heads);
  attention.scale = 1.0 / std::sqrt(static_cast<double>(attention.head_dim));
  attention.bias_q = attention.bias_k = attention.bias_v = attention.bias_o =
      reader.boolean_or("attention_bias", false);
  return attention;
}

Config read(const JsonReader& reader) {
  Config config;
  config.n_layers = reader.integer("num_hidden_layers", layer_range);
  config.d_model = reader.integer("hidden_size", width_range);
  config.n_vocab = reader.integer("vocab_size", vocabulary_range);
  config.n_ctx = reader.integer_or("max_position_embeddings", 2048, context_range);
  config.norm = {NormConfig::Kind::rms, static_cast<float>(reader.number_or("rms_norm_eps", 1e-6, epsilon_range)),
                 false};
  config.attention = read_attention(reader, config.d_model);
  config.position = read_rotary(reader, config.attention.head_dim, config.n_ctx);
  const bool mlp_bias = reader.boolean_or("mlp_bias", false);
  config.mlp = {true, read_published_activation(reader, "hidden_act", "silu"),
                reader.integer("intermediate_size", width_range), mlp_bias, mlp_bias};
  config.head.tied = reader.boolean_or("tie_word_embeddings", false);
  read_tokens(reader, config);
  reader.ignore("pretraining_tp");  // how the products were cut up in training; the sums are the same
  return config;
}

BlockWeights bind_block(const Config& config, WeightBinder& binder, const std::string& block) {
  const auto& a = config.attention;
  const auto d = config.d_model;
  const auto d_ff = config.mlp.d_ff;
  const auto name = [&](const char* part) { return weight_and_bias(block + part); };
  BlockWeights weights;
  weights.attn_norms.before = binder.norm(name("input_layernorm"), config);
  weights.W_q = binder.linear(name("self_attn.q_proj"), a.q_width(), d, a.bias_q);
  weights.W_k = binder.linear(name("self_attn.k_proj"), a.kv_width(), d, a.bias_k);
  weights.W_v = binder.linear(name("self_attn.v_proj"), a.kv_width(), d, a.bias_v);
  weights.W_o = binder.linear(name("self_attn.o_proj"), d, a.q_width(), a.bias_o);
  weights.mlp_norms.before = binder.norm(name("post_attention_layernorm"), config);
  weights.W_in = binder.linear(name("mlp.up_proj"), d_ff, d, config.mlp.bias_in);
  weights.W_gate = binder.linear(name("mlp.gate_proj"), d_ff, d, config.mlp.bias_in);
  weights.W_out = binder.linear(name("mlp.down_proj"), d, d_ff, config.mlp.bias_out);
  binder.ignore(block + "self_attn.rotary_emb.inv_freq");  // computed from the config
  return weights;
}

Weights bind(const Config& config, WeightBinder& binder) {
  const std::string root = binder.has("model.embed_tokens.weight") ? "model." : "";
  Weights weights;
  weights.tokens = binder.matrix(root + "embed_tokens.weight", config.n_vocab, config.d_model);
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    weights.blocks.push_back(bind_block(config, binder, fmt::format("{}layers.{}.", root, i)));
  weights.final_norm = binder.norm(weight_and_bias(root + "norm"), config);
  weights.head = binder.head(weight_and_bias("lm_head"), config, weights.tokens);
  return weights;
}

}  // namespace

Family llama_family() { return {"llama", "LlamaForCausalLM", read, bind}; }

}  // namespace qkv
