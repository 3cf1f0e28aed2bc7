#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "qkv/model/config.hpp"
#include "qkv/model/weight_binder.hpp"
#include "qkv/model/weights.hpp"

namespace qkv {
namespace native {

template <typename Ref>
Ref& present(std::optional<Ref>& ref) {
  return ref ? *ref : ref.emplace();
}
template <typename Ref>
const Ref& present(const std::optional<Ref>& ref) {
  return ref.value();
}

/// The norms around one half of a block: "blocks.0.attn_norm", "blocks.0.attn_out_norm", "blocks.0.attn_stream_norm".
template <typename Norms, typename Visitor>
void visit_norms(const Config& config, Norms& norms, const std::string& half, bool has_before, Visitor& visit) {
  const auto& places = config.norm_places;
  if (places.before && has_before) visit.norm(half + "_norm", norms.before, config.norm, config.d_model);
  if (places.after) visit.norm(half + "_out_norm", norms.after, config.norm, config.d_model);
  if (places.stream) visit.norm(half + "_stream_norm", norms.stream, config.norm, config.d_model);
}

template <typename Norm, typename Visitor>
void visit_qk_norm(const Config& config, Norm& norm, const std::string& name, std::int64_t width, Visitor& visit) {
  const auto& qk = config.attention.qk_norm;
  if (qk.kind == QkNormConfig::Kind::none) return;
  visit.norm(name, norm, qk.norm, qk.kind == QkNormConfig::Kind::head ? config.attention.head_dim : width);
}

template <typename BlockRefs, typename Visitor>
void visit_block(const Config& config, BlockRefs& weights, const std::string& block, Visitor& visit) {
  const auto& a = config.attention;
  const auto d = config.d_model;
  const auto d_ff = config.mlp.d_ff;
  const auto linear = [&](const char* part, const char* which, auto& ref, std::int64_t out, std::int64_t in,
                          bool bias) {
    visit.linear({fmt::format("{}.{}.W_{}", block, part, which), fmt::format("{}.{}.b_{}", block, part, which)}, ref,
                 out, in, bias);
  };
  visit_norms(config, weights.attn_norms, block + ".attn", true, visit);
  linear("attn", "q", weights.W_q, a.q_width(), d, a.bias_q);
  linear("attn", "k", weights.W_k, a.kv_width(), d, a.bias_k);
  linear("attn", "v", weights.W_v, a.kv_width(), d, a.bias_v);
  linear("attn", "o", weights.W_o, d, a.q_width(), a.bias_o);
  visit_qk_norm(config, weights.q_norm, block + ".attn.q_norm", a.q_width(), visit);
  visit_qk_norm(config, weights.k_norm, block + ".attn.k_norm", a.kv_width(), visit);
  visit_norms(config, weights.mlp_norms, block + ".mlp", config.residual != Residual::parallel_one_norm, visit);
  linear("mlp", "in", weights.W_in, d_ff, d, config.mlp.bias_in);
  if (config.mlp.gated) linear("mlp", "gate", present(weights.W_gate), d_ff, d, config.mlp.bias_in);
  linear("mlp", "out", weights.W_out, d, d_ff, config.mlp.bias_out);
}

}  // namespace native

/// Every tensor of the project's own form: its name, its place in `weights` (const or not), its shape. The one list for
/// binding such a model and for writing one. `visit` has
///
///     matrix(name, MatrixRef&, rows, cols)
///     norm(name, NormRef&, NormConfig, width)
///     linear(TensorNames, LinearRef&, out, in, bias)
///     head(TensorNames, LinearRef&)
///
/// `weights.blocks` must be as many as the config says.
template <typename Refs, typename Visitor>
void visit_native_tensors(const Config& config, Refs& weights, Visitor& visit) {
  visit.matrix("embedding.tokens", weights.tokens, config.n_vocab, config.token_width());
  if (config.position.kind == PositionConfig::Kind::learned)
    visit.matrix("embedding.positions", native::present(weights.positions), config.n_ctx, config.d_model);
  if (config.embedding_width > 0) {
    visit.linear({"embedding.W_in", ""}, native::present(weights.embed_in), config.d_model, config.embedding_width,
                 false);
    visit.linear({"embedding.W_out", ""}, native::present(weights.embed_out), config.embedding_width, config.d_model,
                 false);
  }
  if (config.embedding_norm) visit.norm("embedding.norm", weights.embedding_norm, config.norm, config.d_model);
  std::int64_t layer = 0;
  for (auto& block : weights.blocks) native::visit_block(config, block, fmt::format("blocks.{}", layer++), visit);
  if (config.final_norm) visit.norm("final_norm", weights.final_norm, config.norm, config.d_model);
  visit.head({"head.W", "head.b"}, weights.head);
}

}  // namespace qkv
