#pragma once

#include "qkv/ops/linear.hpp"

namespace qkv::ops {

/// Multiplies by the matrix where it lies, in either layout, so that a mapped file stays the only copy; only small
/// matrices are kept a second time, as [in, out], and multiplied in blocks of rows of one shape: a row then
/// comes out the same, bit for bit, however many there are.
[[nodiscard]] LinearBackend openblas_linear();

}  // namespace qkv::ops
