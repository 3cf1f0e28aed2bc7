#pragma once

#include "qkv/model/attention.hpp"
#include "qkv/model/mlp.hpp"
#include "qkv/model/norm.hpp"

namespace qkv {

/// One block: what it reads from the residual stream, and what it adds to it.
struct Block {
  Norm attn_norm;
  Attention attention;
  Norm mlp_norm;
  Mlp mlp;

  /// x [T, D], the residual stream, in place.
  void apply(MatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe) const;
};

}  // namespace qkv
