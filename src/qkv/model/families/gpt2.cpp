#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// GPT-2 as Hugging Face publishes it: learned positions, layer norm before each half of a block, linear weights stored
/// as [in, out], W_q W_k W_v side by side in `c_attn`, the head tied to the token embedding unless the config says
/// else.
namespace qkv {
namespace {

AttentionConfig read_attention(const JsonReader& reader, std::int64_t d_model) {
  auto attention = read_heads(reader, {"n_head", "n_embd"}, d_model);
  if (!reader.boolean_or("scale_attn_weights", true)) attention.scale = 1.0;
  attention.scale_divided_by_layer = reader.boolean_or("scale_attn_by_inverse_layer_idx", false);
  set_biases(attention, true, true);
  require(reader, "add_cross_attention", false);
  return attention;
}

Config read(const JsonReader& reader) {
  Config config;
  config.n_layers = reader.integer("n_layer", layer_range);
  config.d_model = reader.integer("n_embd", width_range);
  config.n_vocab = reader.integer("vocab_size", vocabulary_range);
  config.n_ctx = reader.integer("n_positions", context_range);
  config.position.kind = PositionConfig::Kind::learned;
  config.norm = read_layer_norm(reader, "layer_norm_epsilon");
  config.attention = read_attention(reader, config.d_model);
  config.mlp = {false, read_published_activation(reader, "activation_function", "gelu_new"),
                reader.integer_or("n_inner", 4 * config.d_model, width_range), true, true};
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  read_tokens(reader, config);
  ignore_keys(reader, {"n_ctx", "reorder_and_upcast_attn"});  // the order of operations in half precision
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = gpt2_names();
  names.block.qkv = "attn.c_attn";
  names.block.layout = ops::Layout::in_out;
  return bind_by_names(config, binder, names);
}

}  // namespace

Family gpt2_family() { return {"gpt2", "GPT2LMHeadModel", read, bind}; }

}  // namespace qkv
