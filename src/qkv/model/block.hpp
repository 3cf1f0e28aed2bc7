#pragma once

#include <optional>

#include "qkv/model/attention.hpp"
#include "qkv/model/mlp.hpp"
#include "qkv/model/norm.hpp"

namespace qkv {

/// The norms around one half of a block, where it has them; see NormPlaces.
struct BlockNorms {
  std::optional<Norm> before;
  std::optional<Norm> after;
  std::optional<Norm> stream;
  bool keeps = false;
};

/// One block: what it reads from the residual stream, and what it adds to it.
struct Block {
  Residual residual = Residual::sequential;
  BlockNorms attn_norms;
  Attention attention;
  BlockNorms mlp_norms;
  Mlp mlp;

  /// x [T, D], the residual stream, in place.
  void apply(MatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe) const;
};

}  // namespace qkv
