#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// GPT-BigCode as Hugging Face publishes it (SantaCoder, StarCoder): learned positions, and one key/value head for all
/// heads unless the config says else; then W_q W_k W_v lie head by head in one matrix.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"n_layer", "n_embd", "n_positions", 1024});
  config.position.kind = PositionConfig::Kind::learned;
  config.norm = read_layer_norm(reader, "layer_norm_epsilon");
  config.attention = read_heads(reader, {"n_head", "n_embd"}, config.d_model);
  if (reader.boolean_or("multi_query", true)) config.attention.n_kv_heads = 1;
  if (!reader.boolean_or("scale_attn_weights", true)) config.attention.scale = 1.0;
  set_biases(config.attention, true, true);
  config.mlp = {false, read_published_activation(reader, "activation_function", "gelu_pytorch_tanh"),
                reader.integer_or("n_inner", 4 * config.d_model, width_range), true, true};
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  require(reader, "scale_attn_by_inverse_layer_idx", false);
  // In which precision and in which room other programs compute the same.
  ignore_keys(reader, {"attention_softmax_in_fp32", "inference_runner", "max_batch_size", "max_sequence_length",
                       "n_ctx", "pad_key_length", "pre_allocate_kv_cache", "reorder_and_upcast_attn",
                       "scale_attention_softmax_in_fp32", "validate_runner_input"});
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = gpt2_names();
  names.block.qkv = "attn.c_attn";
  names.block.fused = {config.attention.n_kv_heads};
  return bind_by_names(config, binder, names);
}

}  // namespace

Family gpt_bigcode_family() { return {"gpt_bigcode", "GPTBigCodeForCausalLM", read, bind}; }

}  // namespace qkv
