#include <fmt/format.h>

#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// StableLM as Hugging Face publishes it: layer norms, a share of each head is rotated, a gated MLP; attention and MLP
/// one after the other, or both at once through one norm.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"num_hidden_layers", "hidden_size", "max_position_embeddings", 4096});
  config.norm = read_layer_norm(reader, "layer_norm_eps");
  config.attention = read_heads(reader, {"num_attention_heads", "hidden_size", "num_key_value_heads"}, config.d_model);
  set_biases(config.attention, reader.boolean_or("use_qkv_bias", false), false);
  if (reader.boolean_or("qk_layernorm", false)) {
    config.attention.qk_norm = {QkNormConfig::Kind::own_head, config.norm};
    config.attention.qk_norm.norm.bias = false;
  }
  config.position = read_partial_rotary(reader, {.absent_factor = 0.25}, config.attention.head_dim, config.n_ctx);
  if (reader.boolean_or("use_parallel_residual", false)) config.residual = Residual::parallel_one_norm;
  config.mlp = {true, read_published_activation(reader, "hidden_act", "silu"),
                reader.integer("intermediate_size", width_range), false, false};
  config.head.tied = reader.boolean_or("tie_word_embeddings", false);
  return config;
}

/// Each head has a tensor of its own, "<name>.norms.0.weight", "<name>.norms.1.weight", ...
NormRef bind_head_norms(WeightBinder& binder, const std::string& name, std::int64_t n_heads, std::int64_t head_dim) {
  NormConfig one;
  one.bias = false;
  NormRef norm;
  norm.gain.count = n_heads * head_dim;
  for (std::int64_t head = 0; head < n_heads; ++head)
    norm.gain.joined.push_back(
        binder.norm(weight_and_bias(fmt::format("{}.norms.{}", name, head)), one, head_dim).gain.tensor);
  norm.gain.tensor = norm.gain.joined.front();
  return norm;
}

Weights bind(const Config& config, WeightBinder& binder) {
  const auto names = llama_names();
  auto weights = bind_by_names(config, binder, names);
  const auto& a = config.attention;
  if (a.qk_norm.kind == QkNormConfig::Kind::none) return weights;
  const auto layers = fmt::format("{}{}", find_root(binder, names), names.layers);
  for (std::size_t i = 0; i < weights.blocks.size(); ++i) {
    const auto block = fmt::format("{}.{}.self_attn.", layers, i);
    weights.blocks[i].q_norm = bind_head_norms(binder, block + "q_layernorm", a.n_heads, a.head_dim);
    weights.blocks[i].k_norm = bind_head_norms(binder, block + "k_layernorm", a.n_kv_heads, a.head_dim);
  }
  return weights;
}

}  // namespace

Family stablelm_family() { return {"stablelm", "StableLmForCausalLM", read, bind}; }

}  // namespace qkv
