#pragma once

#include "qkv/ops/backends/blas.hpp"
#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// out = a b;  a [M, K], b [K, N], out [M, N].
inline void matmul(ConstMatrixView a, ConstMatrixView b, MatrixView out) { blas::multiply(1.0F, a, b, 0.0F, out); }

/// out = scale * a bᵀ;  a [M, K], b [N, K], out [M, N].
inline void matmul_transposed(ConstMatrixView a, ConstMatrixView b, float scale, MatrixView out) {
  blas::multiply_transposed(scale, a, b, 0.0F, out);
}

}  // namespace qkv::ops
