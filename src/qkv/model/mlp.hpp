#pragma once

#include "qkv/model/config.hpp"
#include "qkv/model/scratch.hpp"
#include "qkv/ops/linear.hpp"

namespace qkv {

/// The MLP of one block: plain, activation(x W_in) W_out, or gated, (activation(x W_gate) * (x W_in)) W_out. Shazeer,
/// "GLU Variants Improve Transformer", 2020.
struct Mlp {
  MlpConfig config;
  ops::Linear W_in;    // [F, D]
  ops::Linear W_gate;  // [F, D], only when gated
  ops::Linear W_out;   // [D, F]

  /// x [T, D], already normed -> out [T, D], what the MLP adds to the residual stream.
  void apply(ConstMatrixView x, Scratch& scratch, MatrixView out) const;
};

}  // namespace qkv
