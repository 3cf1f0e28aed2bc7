#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "qkv/model/config.hpp"
#include "qkv/model/norm.hpp"
#include "qkv/model/observer.hpp"
#include "qkv/model/scratch.hpp"
#include "qkv/ops/alibi.hpp"
#include "qkv/ops/linear.hpp"
#include "qkv/ops/rotary.hpp"

namespace qkv {

/// T new tokens that follow `past` kept ones.
struct Pass {
  std::int64_t past = 0;
  std::int64_t count = 0;                    // T
  std::int64_t needed = 0;                   // the first row whose output is: those before leave only keys and values
  const ops::RotaryTable* rotary = nullptr;  // of this layer; null where it has none
  bool narrow = false;                       // see is_narrow
  std::span<const std::int64_t> ablated;     // heads of this layer whose output is left out before W_o
};

/// The keys and values of one layer: rows 0 .. past are there already, the pass fills the next T.
struct KeyValues {
  MatrixView keys;    // [S, Hkv K]
  MatrixView values;  // [S, Hkv K]
};

/// Multi-head causal attention of one block.
struct Attention {
  AttentionConfig config;
  float scale = 0.0F;
  std::int64_t window = 0;  // how many keys a query sees; 0: all
  int rotary = -1;          // which rotary positions; -1: none
  std::optional<ops::Alibi> alibi;
  std::optional<Norm> q_norm;
  std::optional<Norm> k_norm;
  ops::Linear W_q;  // [H K, D]
  ops::Linear W_k;  // [Hkv K, D]
  ops::Linear W_v;  // [Hkv K, D]
  ops::Linear W_o;  // [D, H K]

  /// x [T, D], already normed -> out [T, D], what attention adds to the residual stream, from row `needed` on.
  void apply(ConstMatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe,
             MatrixView out) const;

 private:
  void project(ConstMatrixView x, const Pass& pass, std::int64_t first_query, MatrixView q,
               const KeyValues& made) const;
};

}  // namespace qkv
