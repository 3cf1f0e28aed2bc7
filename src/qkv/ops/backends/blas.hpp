#pragma once

#include <string>

#include "qkv/tensor/matrix.hpp"

/// The only door to the BLAS library. Its functions use the threads that set_threads() last asked for; that number
/// belongs to the process, not to a model.
namespace qkv::ops::blas {

/// c = alpha * a b + beta * c;  a [M, K], b [K, N], c [M, N]. With beta 0, c is not read.
void multiply(float alpha, ConstMatrixView a, ConstMatrixView b, float beta, MatrixView c);

/// c = alpha * a bᵀ + beta * c;  a [M, K], b [N, K], c [M, N]. With beta 0, c is not read.
void multiply_transposed(float alpha, ConstMatrixView a, ConstMatrixView b, float beta, MatrixView c);

/// out = aᵀ;  a [M, N], out [N, M].
void transpose(ConstMatrixView a, MatrixView out);

/// Up to how many products of two numbers (M N K) the library multiplies by a b that is not transposed without copying
/// both into its own layout first; 0: it always copies.
[[nodiscard]] std::int64_t largest_in_place();

/// Returns how many it really uses: the library was built for a largest number.
int set_threads(int threads);

/// The library, its version and build options, as it says them.
[[nodiscard]] std::string library();
/// The kernel it chose for this processor ("SkylakeX").
[[nodiscard]] std::string kernel();

}  // namespace qkv::ops::blas
