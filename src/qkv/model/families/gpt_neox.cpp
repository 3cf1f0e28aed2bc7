#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// GPT-NeoX as Hugging Face publishes it (Pythia too): a share of each head is rotated, W_q W_k W_v lie head by head in
/// one matrix, attention and MLP read the same stream unless the config says else.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"num_hidden_layers", "hidden_size", "max_position_embeddings", 2048, 50432});
  config.norm = read_layer_norm(reader, "layer_norm_eps");
  config.attention = read_heads(reader, {"num_attention_heads", "hidden_size"}, config.d_model);
  const bool bias = reader.boolean_or("attention_bias", true);
  set_biases(config.attention, bias, bias);
  config.position = read_partial_rotary(reader,
                                        {name_used(reader, {"rotary_pct", "partial_rotary_factor"}), 0.25,
                                         name_used(reader, {"rotary_emb_base", "rope_theta"})},
                                        config.attention.head_dim, config.n_ctx);
  config.residual = reader.boolean_or("use_parallel_residual", true) ? Residual::parallel : Residual::sequential;
  config.mlp = {false, read_published_activation(reader, "hidden_act", "gelu"),
                reader.integer("intermediate_size", width_range), true, true};
  config.head.tied = reader.boolean_or("tie_word_embeddings", false);
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = bloom_names();
  names.roots = {"gpt_neox.", ""};
  names.tokens = "embed_in";
  names.layers = "layers";
  names.block.qkv = "attention.query_key_value";
  names.block.fused = {config.attention.n_heads};
  names.block.o = "attention.dense";
  names.block.unused = {"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq"};
  names.final_norm = "final_layer_norm";
  names.head = "embed_out";
  return bind_by_names(config, binder, names);
}

}  // namespace

Family gpt_neox_family() { return {"gpt_neox", "GPTNeoXForCausalLM", read, bind}; }

}  // namespace qkv
