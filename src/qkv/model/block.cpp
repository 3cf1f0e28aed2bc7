#include "qkv/model/block.hpp"

#include <algorithm>

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

/// What a half computed, turned into what it adds to the stream.
void finish(const std::optional<Norm>& norm, float scale, MatrixView delta) {
  norm_in_place(norm, delta);
  if (scale != 1.0F) ops::scale(scale, delta);
}

}  // namespace

void Block::apply(MatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe) const {
  const auto all_normed = scratch.normed.view(x.rows, x.cols);
  const auto all_delta = scratch.delta.view(x.rows, x.cols);

  const auto attn_in = read_from(x, attn_norms, all_normed);
  probe(Place::attn_in, attn_in, pass.past);
  attention.apply(attn_in, pass, kept, scratch, probe, all_delta);

  const auto needed = [&](auto rows) { return rows.rows_window(pass.needed, rows.rows - pass.needed); };
  const auto first = pass.past + pass.needed;
  const auto stream = needed(x);
  const auto normed = needed(all_normed);
  const auto delta = needed(all_delta);
  finish(attn_norms.after, residual_scale, delta);
  probe(Place::attn_out, delta, first);

  auto mlp_in = needed(attn_in);
  if (residual == Residual::parallel) mlp_in = read_from(stream, mlp_norms, normed);  // before the stream changes
  ops::add(delta, stream);
  norm_in_place(attn_norms.stream, stream);
  probe(Place::residual_mid, stream, first);

  if (residual == Residual::sequential) mlp_in = read_from(stream, mlp_norms, normed);
  probe(Place::mlp_in, mlp_in, first);
  mlp.apply(mlp_in, scratch, delta);
  finish(mlp_norms.after, residual_scale, delta);
  probe(Place::mlp_out, delta, first);
  ops::add(delta, stream);
  norm_in_place(mlp_norms.stream, stream);
}

std::int64_t Block::row_block() const {
  return ops::common_row_block(
      {&attention.W_q, &attention.W_k, &attention.W_v, &attention.W_o, &mlp.W_in, &mlp.W_gate, &mlp.W_out});
}

std::int64_t Block::first_for_last(std::int64_t rows) const {
  const auto block = row_block();
  if (block == 0) return 0;
  const auto first = (rows - 1) / block * block;
  return rows - first > 1 || block == 1 ? first : std::max<std::int64_t>(0, first - block);
}

}  // namespace qkv
