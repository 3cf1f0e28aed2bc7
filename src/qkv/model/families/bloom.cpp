#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// BLOOM as Hugging Face publishes it: ALiBi, a norm of the embedding, W_q W_k W_v head by head in one matrix.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  const auto width_key = name_used(reader, {"hidden_size", "n_embed"});
  auto config =
      read_sizes(reader, {name_used(reader, {"n_layer", "num_hidden_layers"}), width_key, "seq_length", 2048});
  config.position.kind = PositionConfig::Kind::alibi;
  config.embedding_norm = true;
  config.norm = read_layer_norm(reader, "layer_norm_epsilon");
  config.norm_places.keeps = reader.boolean_or("apply_residual_connection_post_layernorm", false);
  config.attention =
      read_heads(reader, {name_used(reader, {"n_head", "num_attention_heads"}), width_key}, config.d_model);
  set_biases(config.attention, true, true);
  config.mlp = {false, ops::Activation::gelu_tanh, 4 * config.d_model, true, true};
  if (reader.integer_or("n_inner", config.mlp.d_ff, width_range) != config.mlp.d_ff)
    reader.fail("n_inner", "null, for 4 times the width");
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  // How sums were cut up and operations joined in training, and in which precision; offset_alibi is used nowhere.
  ignore_keys(reader, {"attention_softmax_in_fp32", "bias_dropout_fusion", "masked_softmax_fusion", "offset_alibi",
                       "pretraining_tp", "skip_bias_add", "skip_bias_add_qkv", "slow_but_exact"});
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = bloom_names();
  names.block.fused = {config.attention.n_heads};
  return bind_by_names(config, binder, names);
}

}  // namespace

Family bloom_family() { return {"bloom", "BloomForCausalLM", read, bind}; }

}  // namespace qkv
