#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// Phi (1, 1.5, 2) as Hugging Face publishes it: half of each head is rotated, attention and MLP read the same stream
/// through one norm, biases everywhere, the head's included.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"num_hidden_layers", "hidden_size", "max_position_embeddings", 2048});
  config.norm = read_layer_norm(reader, "layer_norm_eps");
  config.attention =
      read_heads(reader, {"num_attention_heads", "hidden_size", "num_key_value_heads", "head_dim"}, config.d_model);
  set_biases(config.attention, true, true);
  if (reader.boolean_or("qk_layernorm", false)) config.attention.qk_norm = {QkNormConfig::Kind::head, config.norm};
  config.position = read_partial_rotary(reader, {.absent_factor = 0.5}, config.attention.head_dim, config.n_ctx);
  config.residual = Residual::parallel_one_norm;
  config.mlp = {false, read_published_activation(reader, "hidden_act", "gelu_new"),
                reader.integer("intermediate_size", width_range), true, true};
  config.head = {reader.boolean_or("tie_word_embeddings", false), true};
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = llama_names();
  names.block.o = "self_attn.dense";
  names.block.in = "mlp.fc1";
  names.block.out = "mlp.fc2";
  names.block.q_norm = "self_attn.q_layernorm";
  names.block.k_norm = "self_attn.k_layernorm";
  names.final_norm = "final_layernorm";
  return bind_by_names(config, binder, names);
}

}  // namespace

Family phi_family() { return {"phi", "PhiForCausalLM", read, bind}; }

}  // namespace qkv
