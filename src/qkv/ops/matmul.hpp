#pragma once

#include "qkv/ops/backends/blas.hpp"
#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// out = scale * a b;  a [M, K], b [K, N], out [M, N].
inline void matmul(ConstMatrixView a, ConstMatrixView b, MatrixView out, float scale = 1.0F) {
  blas::multiply(scale, a, b, 0.0F, out);
}

/// out = out + a b;  a [M, K], b [K, N], out [M, N].
inline void add_matmul(ConstMatrixView a, ConstMatrixView b, MatrixView out) { blas::multiply(1.0F, a, b, 1.0F, out); }

/// out = scale * a bᵀ;  a [M, K], b [N, K], out [M, N].
inline void matmul_transposed(ConstMatrixView a, ConstMatrixView b, float scale, MatrixView out) {
  blas::multiply_transposed(scale, a, b, 0.0F, out);
}

using blas::largest_in_place;
using blas::transpose;

}  // namespace qkv::ops
