#include "qkv/model/families/published_names.hpp"

#include <fmt/format.h>

namespace qkv {
namespace {

/// W_q, W_k and W_v out of the matrix that holds all three.
void cut_fused(const LinearRef& all, const Config& config, const Fused& fused, BlockWeights& weights) {
  const auto q = config.attention.q_width();
  const auto kv = config.attention.kv_width();
  const auto q_group = q / fused.groups;
  const auto kv_group = kv / fused.groups;
  const auto step = q_group + 2 * kv_group;
  const auto part = [&](std::int64_t first, std::int64_t count, std::int64_t group) {
    return fused.groups == 1 ? all.outputs(first, count) : all.outputs_in_groups(first, count, {group, step});
  };
  weights.W_q = part(0, q, q_group);
  weights.W_k = part(q_group + (fused.values_first ? kv_group : 0), kv, kv_group);
  weights.W_v = part(q_group + (fused.values_first ? 0 : kv_group), kv, kv_group);
}

/// A half has its norm before it, after it, or of the stream; published models that use one name have only one of them.
HalfNorms bind_norms(const Config& config, WeightBinder& binder, const std::string& name) {
  HalfNorms norms;
  (config.norm_places.before ? norms.before : norms.stream) = binder.norm(weight_and_bias(name), config);
  return norms;
}

BlockWeights bind_block(const Config& config, WeightBinder& binder, const BlockNames& names, const std::string& block) {
  const auto& a = config.attention;
  const auto& mlp = config.mlp;
  const auto d = config.d_model;
  const auto full = [&](std::string_view name) { return fmt::format("{}{}", block, name); };
  const auto linear = [&](std::string_view name, std::int64_t out, std::int64_t in, bool bias) {
    return binder.linear(weight_and_bias(full(name)), out, in, bias, names.layout);
  };
  BlockWeights weights;
  weights.attn_norms = bind_norms(config, binder, full(names.attn_norm));
  if (names.qkv.empty()) {
    weights.W_q = linear(names.q, a.q_width(), d, a.bias_q);
    weights.W_k = linear(names.k, a.kv_width(), d, a.bias_k);
    weights.W_v = linear(names.v, a.kv_width(), d, a.bias_v);
  } else {
    cut_fused(linear(names.qkv, a.q_width() + 2 * a.kv_width(), d, a.bias_q), config, names.fused, weights);
  }
  if (!names.q_norm.empty() && a.qk_norm.kind != QkNormConfig::Kind::none) {
    const bool of_head = a.qk_norm.kind == QkNormConfig::Kind::head;
    const auto norm = [&](std::string_view name, std::int64_t width) {
      return binder.norm(weight_and_bias(full(name)), a.qk_norm.norm, of_head ? a.head_dim : width);
    };
    weights.q_norm = norm(names.q_norm, a.q_width());
    weights.k_norm = norm(names.k_norm, a.kv_width());
  }
  weights.W_o = linear(names.o, d, a.q_width(), a.bias_o);
  if (config.residual != Residual::parallel_one_norm)
    weights.mlp_norms = bind_norms(config, binder, full(names.mlp_norm));
  weights.W_in = linear(names.in, mlp.d_ff, d, mlp.bias_in);
  if (mlp.gated) weights.W_gate = linear(names.gate, mlp.d_ff, d, mlp.bias_in);
  weights.W_out = linear(names.out, d, mlp.d_ff, mlp.bias_out);
  for (const auto name : names.unused) binder.ignore(full(name));
  return weights;
}

}  // namespace

ModelNames gpt2_names() {
  return {.roots = {"transformer.", ""},
          .tokens = "wte",
          .positions = "wpe",
          .layers = "h",
          .block = {.attn_norm = "ln_1",
                    .o = "attn.c_proj",
                    .mlp_norm = "ln_2",
                    .in = "mlp.c_fc",
                    .out = "mlp.c_proj",
                    .unused = {"attn.bias", "attn.masked_bias"}},
          .final_norm = "ln_f",
          .head = "lm_head"};
}

ModelNames bloom_names() {
  return {.roots = {"transformer.", ""},
          .tokens = "word_embeddings",
          .embedding_norm = "word_embeddings_layernorm",
          .layers = "h",
          .block = {.attn_norm = "input_layernorm",
                    .qkv = "self_attention.query_key_value",
                    .o = "self_attention.dense",
                    .mlp_norm = "post_attention_layernorm",
                    .in = "mlp.dense_h_to_4h",
                    .out = "mlp.dense_4h_to_h"},
          .final_norm = "ln_f",
          .head = "lm_head"};
}

ModelNames llama_names() {
  return {.roots = {"model.", ""},
          .tokens = "embed_tokens",
          .layers = "layers",
          .block = {.attn_norm = "input_layernorm",
                    .q = "self_attn.q_proj",
                    .k = "self_attn.k_proj",
                    .v = "self_attn.v_proj",
                    .o = "self_attn.o_proj",
                    .mlp_norm = "post_attention_layernorm",
                    .in = "mlp.up_proj",
                    .gate = "mlp.gate_proj",
                    .out = "mlp.down_proj",
                    .unused = {"self_attn.rotary_emb.inv_freq"}},  // computed from the config
          .final_norm = "norm",
          .head = "lm_head"};
}

std::string find_root(const WeightBinder& binder, const ModelNames& names) {
  for (const auto root : names.roots)
    if (binder.has(fmt::format("{}{}.weight", root, names.tokens))) return std::string(root);
  return std::string(*names.roots.begin());
}

Weights bind_by_names(const Config& config, WeightBinder& binder, const ModelNames& names) {
  const auto root = find_root(binder, names);
  const auto full = [&](std::string_view name) { return fmt::format("{}{}", root, name); };
  Weights weights;
  weights.tokens = binder.matrix(full(names.tokens) + ".weight", config.n_vocab, config.token_width());
  if (config.embedding_norm) weights.embedding_norm = binder.norm(weight_and_bias(full(names.embedding_norm)), config);
  if (config.position.kind == PositionConfig::Kind::learned) {
    weights.positions =
        binder.matrix(full(names.positions) + ".weight", names.positions_first + config.n_ctx, config.d_model);
    weights.positions->first = names.positions_first * config.d_model;
    weights.positions->rows = config.n_ctx;
  }
  for (std::int64_t i = 0; i < config.n_layers; ++i)
    weights.blocks.push_back(bind_block(config, binder, names.block, fmt::format("{}{}.{}.", root, names.layers, i)));
  if (config.final_norm) weights.final_norm = binder.norm(weight_and_bias(full(names.final_norm)), config);
  weights.head = binder.head(weight_and_bias(std::string(names.head)), config, weights.tokens);
  return weights;
}

}  // namespace qkv
