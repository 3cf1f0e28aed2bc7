#include "qkv/model/mlp.hpp"

#include "qkv/ops/activation.hpp"
#include "qkv/ops/elementwise.hpp"

namespace qkv {

void Mlp::apply(ConstMatrixView x, Scratch& scratch, MatrixView out) const {
  const auto inner = scratch.inner.view(x.rows, config.d_ff);
  W_in.apply(x, inner);
  if (config.gated) {
    const auto gate = scratch.gate.view(x.rows, config.d_ff);
    W_gate.apply(x, gate);
    ops::activate(config.activation, gate);
    ops::multiply(gate, inner);
  } else {
    ops::activate(config.activation, inner);
  }
  W_out.apply(inner, out);
}

}  // namespace qkv
