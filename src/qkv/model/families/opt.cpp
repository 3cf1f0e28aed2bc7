#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// OPT as Hugging Face publishes it (Galactica too): learned positions whose first two rows are for padding; norms
/// before each half of a block, or of the stream after it, and then none before the head; an embedding that may be
/// narrower than the blocks.
namespace qkv {
namespace {

constexpr std::int64_t rows_for_padding = 2;

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"num_hidden_layers", "hidden_size", "max_position_embeddings", 2048});
  config.position.kind = PositionConfig::Kind::learned;
  const auto width = reader.integer_or("word_embed_proj_dim", config.d_model, width_range);
  if (width != config.d_model) config.embedding_width = width;
  config.norm.gain = config.norm.bias = reader.boolean_or("layer_norm_elementwise_affine", true);
  config.norm_places.before = reader.boolean_or("do_layer_norm_before", true);
  config.norm_places.stream = !config.norm_places.before;
  config.final_norm = config.norm_places.before && !reader.boolean_or("_remove_final_layer_norm", false);
  config.attention = read_heads(reader, {"num_attention_heads", "hidden_size"}, config.d_model);
  const bool bias = reader.boolean_or("enable_bias", true);
  set_biases(config.attention, bias, bias);
  config.mlp = {false, read_published_activation(reader, "activation_function", "relu"),
                reader.integer("ffn_dim", width_range), bias, bias};
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  require(reader, "learned_embeddings", true);
  require(reader, "scale_embeddings", false);
  reader.ignore("output_projection");  // that of the training program; the head is what tie_word_embeddings says
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = llama_names();
  names.roots = {"model.decoder.", "decoder.", ""};
  names.positions = "embed_positions";
  names.positions_first = rows_for_padding;
  names.block.attn_norm = "self_attn_layer_norm";
  names.block.o = "self_attn.out_proj";
  names.block.mlp_norm = names.final_norm = "final_layer_norm";
  names.block.in = "fc1";
  names.block.out = "fc2";
  auto weights = bind_by_names(config, binder, names);
  if (config.embedding_width > 0) {
    const auto root = find_root(binder, names);
    weights.embed_in =
        binder.linear(weight_and_bias(root + "project_in"), config.d_model, config.embedding_width, false);
    weights.embed_out =
        binder.linear(weight_and_bias(root + "project_out"), config.embedding_width, config.d_model, false);
  }
  return weights;
}

}  // namespace

Family opt_family() { return {"opt", "OPTForCausalLM", read, bind}; }

}  // namespace qkv
