#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// Falcon as Hugging Face publishes it, in three forms: attention and MLP one after the other, with ALiBi (RW); both at
/// once through one norm, with one key/value head (7B); both at once, each through its own norm or through one, with
/// some key/value heads (40B, 180B, Falcon 2).
///
/// Where Hugging Face's program shows attention weights (its "eager" attention, since version 4.41 at the latest),
/// ALiBi is added twice: to the scores, and by way of the mask. Where it does not, once. The goldens come from the
/// former, so here it is twice.
namespace qkv {
namespace {

/// Heads that share keys and values. The number given counts only where there is a choice.
std::int64_t read_kv_heads(const JsonReader& reader, std::int64_t n_heads, bool new_form) {
  const bool one = reader.boolean_or("multi_query", true);
  const auto given = reader.integer_or("num_kv_heads", n_heads, head_range);
  if (new_form) return given;
  if (one) return 1;
  if (given != n_heads) reader.fail("num_kv_heads", "as many as heads, or new_decoder_architecture, or multi_query");
  return n_heads;
}

Residual read_residual(const JsonReader& reader, bool new_form) {
  const bool parallel = reader.boolean_or("parallel_attn", true);
  const auto norms = reader.integer_or("num_ln_in_parallel_attn", new_form ? 2 : 1, {1, 2});
  if (new_form && !parallel) reader.fail("parallel_attn", "true with new_decoder_architecture");
  if (!new_form && norms == 2) reader.fail("num_ln_in_parallel_attn", "1 without new_decoder_architecture");
  if (!parallel) return Residual::sequential;
  return norms == 2 ? Residual::parallel : Residual::parallel_one_norm;
}

Config read(const JsonReader& reader) {
  const auto width_key = name_used(reader, {"hidden_size", "n_embed"});
  auto config = read_sizes(
      reader, {name_used(reader, {"num_hidden_layers", "n_layer"}), width_key, "max_position_embeddings", 2048});
  const bool new_form = reader.boolean_or("new_decoder_architecture", false);
  config.norm = read_layer_norm(reader, "layer_norm_epsilon");
  config.attention =
      read_heads(reader, {name_used(reader, {"num_attention_heads", "n_head"}), width_key}, config.d_model);
  config.attention.n_kv_heads = read_kv_heads(reader, config.attention.n_heads, new_form);
  const bool bias = reader.boolean_or("bias", false);
  set_biases(config.attention, bias, bias);
  config.position = read_rotary(reader, config.attention.head_dim, config.n_ctx);
  if (reader.boolean_or("alibi", false)) {
    config.position = {};
    config.position.kind = PositionConfig::Kind::alibi;
    config.position.alibi.scaled = config.position.alibi.rounded = true;
    config.position.alibi.strength = 2.0;  // see above
  }
  config.residual = read_residual(reader, new_form);
  config.mlp = {false, read_published_activation(reader, "activation", "gelu"),
                reader.integer_or("ffn_hidden_size", 4 * config.d_model, width_range), bias, bias};
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  require(reader, "apply_residual_connection_post_layernorm", false);
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = bloom_names();
  names.block.fused = {config.attention.n_kv_heads};
  names.block.unused = {"self_attention.rotary_emb.inv_freq", "self_attention.maybe_rotary.inv_freq"};
  if (config.residual == Residual::parallel) {
    names.block.attn_norm = "ln_attn";
    names.block.mlp_norm = "ln_mlp";
  }
  return bind_by_names(config, binder, names);
}

}  // namespace

Family falcon_family() { return {"falcon", "FalconForCausalLM", read, bind}; }

}  // namespace qkv
