#include "qkv/model/block.hpp"

#include "qkv/ops/elementwise.hpp"

namespace qkv {

void Block::apply(MatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe) const {
  const auto normed = scratch.normed.view(x.rows, x.cols);
  const auto delta = scratch.delta.view(x.rows, x.cols);

  attn_norm.apply(x, normed);
  probe(Place::attn_in, normed, pass.past);
  attention.apply(normed, pass, kept, scratch, probe, delta);
  probe(Place::attn_out, delta, pass.past);
  ops::add(delta, x);
  probe(Place::residual_mid, x, pass.past);

  mlp_norm.apply(x, normed);
  probe(Place::mlp_in, normed, pass.past);
  mlp.apply(normed, scratch, delta);
  probe(Place::mlp_out, delta, pass.past);
  ops::add(delta, x);
}

}  // namespace qkv
