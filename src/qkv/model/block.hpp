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
  float residual_scale = 1.0F;
  BlockNorms attn_norms;
  Attention attention;
  BlockNorms mlp_norms;
  Mlp mlp;

  /// x [T, D], the residual stream, in place, from row `pass.needed` on.
  void apply(MatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe) const;
  /// What holds for all of its products, see ops::LinearKernel.
  [[nodiscard]] std::int64_t row_block() const;
  /// The first row to compute, so that the last of `rows` comes out as it does when all are computed. What the rows
  /// before it would be, only their keys and values know.
  [[nodiscard]] std::int64_t first_for_last(std::int64_t rows) const;
};

}  // namespace qkv
