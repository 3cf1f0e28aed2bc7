#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/io/weight_source.hpp"
#include "qkv/ops/linear.hpp"

namespace qkv {

/// Where each learned number is to be found in the files of a model. Nothing here has been read yet.

/// Rows that do not follow each other: row r is number r / group * step + r % group of the tensor, in which `step` rows
/// lie from the start of one group to that of the next. A fused W_q W_k W_v lies so, head by head. group 0: the rows
/// follow each other.
struct RowGroups {
  std::int64_t group = 0;
  std::int64_t step = 0;

  [[nodiscard]] std::int64_t place_of(std::int64_t row) const {
    return group == 0 ? row : row / group * step + row % group;
  }
};

/// Tensors of equal size, each of which holds a part of what is wanted, one after the other.
using JoinedTensors = std::vector<const StoredTensor*>;

/// `count` numbers of a stored tensor, from `first` on.
struct VectorRef {
  const StoredTensor* tensor = nullptr;  // null where there is none (no bias), or where binding failed
  std::int64_t first = 0;
  std::int64_t count = 0;
  RowGroups groups;
  std::vector<const StoredTensor*> joined =
      {};  // or all the numbers of these, one after the other: equal shares of `count`
};

/// A window of a stored tensor: element (r, c) is number first + groups.place_of(r) * stride + c.
struct MatrixRef {
  const StoredTensor* tensor = nullptr;
  std::int64_t first = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;
  RowGroups groups;
  JoinedTensors joined = {};  // instead of `tensor` (its first is also there): all of their rows
};

struct LinearRef {
  MatrixRef matrix;  // [out, in] or [in, out], as `layout` says
  ops::Layout layout = ops::Layout::out_in;
  VectorRef bias;  // [out], or none

  /// The part that gives outputs first .. first + count: W_q in a matrix that holds W_q, W_k and W_v.
  [[nodiscard]] LinearRef outputs(std::int64_t first, std::int64_t count) const;
  /// The same where a part comes in groups: outputs first .. first + group of each `step`, `count` in all. Only for
  /// Layout::out_in.
  [[nodiscard]] LinearRef outputs_in_groups(std::int64_t first, std::int64_t count, const RowGroups& groups) const;
};

struct NormRef {
  VectorRef gain;  // [D], or none where nothing is learned
  VectorRef bias;  // [D], or none
};

/// The norms around one half of a block, where Config::norm_places says so.
struct HalfNorms {
  NormRef before;
  NormRef after;
  NormRef stream;
};

struct BlockWeights {
  HalfNorms attn_norms;
  NormRef q_norm;  // where Config says so
  NormRef k_norm;
  LinearRef W_q, W_k, W_v;          // [H K, D], [Hkv K, D], [Hkv K, D]
  LinearRef W_o;                    // [D, H K]
  HalfNorms mlp_norms;              // `before` is not read where both halves share a norm
  LinearRef W_in;                   // [F, D]
  std::optional<LinearRef> W_gate;  // [F, D]
  LinearRef W_out;                  // [D, F]
};

struct Weights {
  MatrixRef tokens;                    // [V, E]
  std::optional<LinearRef> embed_in;   // [D, E], where E is not D
  std::optional<LinearRef> embed_out;  // [E, D]
  NormRef embedding_norm;              // where Config says so
  std::optional<MatrixRef> positions;  // [n_ctx, D]
  std::vector<BlockWeights> blocks;
  NormRef final_norm;
  LinearRef head;  // [V, E]; the tokens again when it is tied
};

}  // namespace qkv
