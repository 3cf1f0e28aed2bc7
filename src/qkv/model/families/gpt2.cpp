#include <fmt/format.h>

#include <array>
#include <cmath>

#include "qkv/model/config_keys.hpp"
#include "qkv/model/families/families.hpp"

/// GPT-2 as Hugging Face publishes it: learned positions, layer norm before each half of a block, linear weights stored
/// as [in, out], W_q W_k W_v side by side in `c_attn`, the head tied to the token embedding unless the config says
/// else.
namespace qkv {
namespace {

/// Keys that belong to the family and do not reach the arithmetic of a decoder: dropout, a classifier's summary, the
/// order of operations in half precision.
constexpr std::array irrelevant_keys{
    "n_ctx",        "reorder_and_upcast_attn", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj"};

AttentionConfig read_attention(const JsonReader& reader, std::int64_t d_model) {
  AttentionConfig attention;
  attention.n_heads = reader.integer("n_head", head_range);
  attention.n_kv_heads = attention.n_heads;
  attention.head_dim = divide_into_heads(reader, "n_embd", d_model, attention.n_heads);
  attention.scale =
      reader.boolean_or("scale_attn_weights", true) ? 1.0 / std::sqrt(static_cast<double>(attention.head_dim)) : 1.0;
  attention.scale_divided_by_layer = reader.boolean_or("scale_attn_by_inverse_layer_idx", false);
  attention.bias_q = attention.bias_k = attention.bias_v = attention.bias_o = true;
  if (reader.boolean_or("add_cross_attention", false)) reader.fail("add_cross_attention", "false");
  return attention;
}

Config read(const JsonReader& reader) {
  Config config;
  config.n_layers = reader.integer("n_layer", layer_range);
  config.d_model = reader.integer("n_embd", width_range);
  config.n_vocab = reader.integer("vocab_size", vocabulary_range);
  config.n_ctx = reader.integer("n_positions", context_range);
  config.position.kind = PositionConfig::Kind::learned;
  config.norm = {NormConfig::Kind::layer,
                 static_cast<float>(reader.number_or("layer_norm_epsilon", 1e-5, epsilon_range)), true};
  config.attention = read_attention(reader, config.d_model);
  config.mlp = {false, read_published_activation(reader, "activation_function", "gelu_new"),
                reader.integer_or("n_inner", 4 * config.d_model, width_range), true, true};
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  read_tokens(reader, config);
  for (const auto* key : irrelevant_keys) reader.ignore(key);
  return config;
}

BlockWeights bind_block(const Config& config, WeightBinder& binder, const std::string& block) {
  constexpr auto layout = ops::Layout::in_out;
  const auto d = config.d_model;
  const auto d_ff = config.mlp.d_ff;
  const auto name = [&](const char* part) { return weight_and_bias(block + part); };
  BlockWeights weights;
  weights.attn_norms.before = binder.norm(name("ln_1"), config);
  const auto c_attn = binder.linear(name("attn.c_attn"), 3 * d, d, true, layout);
  weights.W_q = c_attn.outputs(0, d);
  weights.W_k = c_attn.outputs(d, d);
  weights.W_v = c_attn.outputs(2 * d, d);
  weights.W_o = binder.linear(name("attn.c_proj"), d, d, true, layout);
  weights.mlp_norms.before = binder.norm(name("ln_2"), config);
  weights.W_in = binder.linear(name("mlp.c_fc"), d_ff, d, true, layout);
  weights.W_out = binder.linear(name("mlp.c_proj"), d, d_ff, true, layout);
  binder.ignore(block + "attn.bias");  // the causal mask, as old files hold it
  binder.ignore(block + "attn.masked_bias");
  return weights;
}

Weights bind(const Config& config, WeightBinder& binder) {
  const std::string root = binder.has("transformer.wte.weight") ? "transformer." : "";
  Weights weights;
  weights.tokens = binder.matrix(root + "wte.weight", config.n_vocab, config.d_model);
  weights.positions = binder.matrix(root + "wpe.weight", config.n_ctx, config.d_model);
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    weights.blocks.push_back(bind_block(config, binder, fmt::format("{}h.{}.", root, i)));
  weights.final_norm = binder.norm(weight_and_bias(root + "ln_f"), config);
  weights.head = binder.head(weight_and_bias("lm_head"), config, weights.tokens);
  return weights;
}

}  // namespace

Family gpt2_family() { return {"gpt2", "GPT2LMHeadModel", read, bind}; }

}  // namespace qkv
