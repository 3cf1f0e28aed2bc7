#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// Cohere's Command R and Aya: attention and MLP side by side behind one layer norm, rotary positions on pairs of
/// neighbours, scaled logits, and where the config says so norms of q and k with a gain for each head.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config =
      read_llama_like(reader, {.n_ctx = 8192, .epsilon = 1e-5, .tied = true, .epsilon_key = "layer_norm_eps"});
  config.norm.kind = NormConfig::Kind::layer;
  config.residual = Residual::parallel_one_norm;
  // The default was changed when `rope_parameters` came.
  config.position = read_whole_rotary(reader, config, {.theta = reader.has("rope_parameters") ? 500000.0 : 10000.0});
  config.position.rotary.layout = ops::RotaryLayout::pairs;
  config.logit_scale = reader.number_or("logit_scale", 0.0625, {-1e6, 1e6});
  if (reader.boolean_or("use_qk_norm", false)) config.attention.qk_norm = {QkNormConfig::Kind::own_head, config.norm};
  read_attention_bias(reader, config.attention);
  reader.ignore("model_max_length");  // of the tokenizer
  return config;
}

}  // namespace

Family cohere_family() { return {"cohere", "CohereForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
