#pragma once

#include <cstdint>

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// Scores to weights, in place. `table` is [T, S]; row t may see keys 0 .. past + t (as far as the table goes), of
/// those the last `window` only where that is not 0. Those cells become shares that sum to one, exp(score - largest
/// score of the row) over their sum; the others become exactly 0 and are never read. A row that holds an infinite or
/// undefined score gives undefined weights.
void causal_softmax(MatrixView table, std::int64_t past, std::int64_t window = 0);

}  // namespace qkv::ops
