#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// StarCoder 2 as Hugging Face publishes it: rotary positions, groups of heads that share keys and values, biases, a
/// window of keys in every layer where the config gives one.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"num_hidden_layers", "hidden_size", "max_position_embeddings", 4096});
  config.norm = read_layer_norm(reader, "norm_epsilon");
  config.attention =
      read_heads(reader, {"num_attention_heads", "hidden_size", "num_key_value_heads", "head_dim"}, config.d_model);
  if (!reader.has("num_key_value_heads")) config.attention.n_kv_heads = 2;
  const bool bias = reader.boolean_or("use_bias", true);
  set_biases(config.attention, bias, bias);
  const auto window = reader.integer_or("sliding_window", 0, {0, context_range.max});
  if (window > 0) config.attention.windows.assign(static_cast<std::size_t>(config.n_layers), window);
  config.position = read_rotary(reader, config.attention.head_dim, config.n_ctx);
  config.mlp = {false, read_published_activation(reader, "hidden_act", "gelu_pytorch_tanh"),
                reader.integer("intermediate_size", width_range), bias, bias};
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  require(reader, "mlp_type", std::string_view("default"));
  require(reader, "norm_type", std::string_view("layer_norm"));
  require(reader, "scale_attn_weights", true);
  (void)name_used(reader, {"norm_epsilon", "layer_norm_epsilon"});  // older files say it twice
  ignore_keys(reader, {"attention_softmax_in_fp32", "scale_attention_softmax_in_fp32"});
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = llama_names();
  names.block.in = "mlp.c_fc";
  names.block.out = "mlp.c_proj";
  return bind_by_names(config, binder, names);
}

}  // namespace

Family starcoder2_family() { return {"starcoder2", "Starcoder2ForCausalLM", read, bind}; }

}  // namespace qkv
