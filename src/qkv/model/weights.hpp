#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/io/weight_source.hpp"
#include "qkv/ops/linear.hpp"

namespace qkv {

/// Where each learned number is to be found in the files of a model. Nothing here has been read yet.

/// `count` numbers of a stored tensor, from `first` on.
struct VectorRef {
  const StoredTensor* tensor = nullptr;  // null where there is none (no bias), or where binding failed
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A window of a stored tensor: element (r, c) is number first + r * stride + c.
struct MatrixRef {
  const StoredTensor* tensor = nullptr;
  std::int64_t first = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;
};

struct LinearRef {
  MatrixRef matrix;  // [out, in] or [in, out], as `layout` says
  ops::Layout layout = ops::Layout::out_in;
  VectorRef bias;  // [out], or none

  /// The part that gives outputs first .. first + count: W_q in a matrix that holds W_q, W_k and W_v.
  [[nodiscard]] LinearRef outputs(std::int64_t first, std::int64_t count) const;
};

struct NormRef {
  VectorRef gain;  // [D]
  VectorRef bias;  // [D], or none
};

struct BlockWeights {
  NormRef attn_norm;
  LinearRef W_q, W_k, W_v;  // [H K, D], [Hkv K, D], [Hkv K, D]
  LinearRef W_o;            // [D, H K]
  NormRef mlp_norm;
  LinearRef W_in;                   // [F, D]
  std::optional<LinearRef> W_gate;  // [F, D]
  LinearRef W_out;                  // [D, F]
};

struct Weights {
  MatrixRef tokens;                    // [V, D]
  std::optional<MatrixRef> positions;  // [n_ctx, D]
  std::vector<BlockWeights> blocks;
  NormRef final_norm;
  LinearRef head;  // [V, D]; the tokens again when it is tied
};

}  // namespace qkv
