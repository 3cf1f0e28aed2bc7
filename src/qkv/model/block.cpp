#include "qkv/model/block.hpp"

#include "qkv/ops/elementwise.hpp"

namespace qkv {
namespace {

/// What a half of a block reads: the stream, normed where it is.
ConstMatrixView read_from(MatrixView x, const BlockNorms& norms, MatrixView normed) {
  if (!norms.before) return x;
  const auto to = norms.keeps ? x : normed;
  norms.before->apply(x, to);
  return to;
}

void norm_in_place(const std::optional<Norm>& norm, MatrixView numbers) {
  if (norm) norm->apply(numbers, numbers);
}

}  // namespace

void Block::apply(MatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe) const {
  const auto normed = scratch.normed.view(x.rows, x.cols);
  const auto delta = scratch.delta.view(x.rows, x.cols);

  const auto attn_in = read_from(x, attn_norms, normed);
  probe(Place::attn_in, attn_in, pass.past);
  attention.apply(attn_in, pass, kept, scratch, probe, delta);
  norm_in_place(attn_norms.after, delta);
  probe(Place::attn_out, delta, pass.past);

  auto mlp_in = attn_in;
  if (residual == Residual::parallel) mlp_in = read_from(x, mlp_norms, normed);  // before the stream changes
  ops::add(delta, x);
  norm_in_place(attn_norms.stream, x);
  probe(Place::residual_mid, x, pass.past);

  if (residual == Residual::sequential) mlp_in = read_from(x, mlp_norms, normed);
  probe(Place::mlp_in, mlp_in, pass.past);
  mlp.apply(mlp_in, scratch, delta);
  norm_in_place(mlp_norms.after, delta);
  probe(Place::mlp_out, delta, pass.past);
  ops::add(delta, x);
  norm_in_place(mlp_norms.stream, x);
}

}  // namespace qkv
