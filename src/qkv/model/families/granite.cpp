#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// IBM's Granite 3, dense: Llama with four multipliers, each 1 where the config does not give it. That of the scores
/// stands in place of 1 / sqrt(head_dim), and logits are divided by theirs.
namespace qkv {
namespace {

constexpr NumberRange multiplier_range{1e-6, 1e6};

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {});
  config.position = read_whole_rotary(reader, config);
  read_attention_bias(reader, config.attention);
  config.mlp.bias_in = config.mlp.bias_out = reader.boolean_or("mlp_bias", false);
  config.embedding_scale = reader.number_or("embedding_multiplier", 1.0, multiplier_range);
  config.attention.scale = reader.number_or("attention_multiplier", 1.0, multiplier_range);
  config.residual_scale = reader.number_or("residual_multiplier", 1.0, multiplier_range);
  config.logit_scale = 1.0 / reader.number_or("logits_scaling", 1.0, multiplier_range);
  return config;
}

}  // namespace

Family granite_family() { return {"granite", "GraniteForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
