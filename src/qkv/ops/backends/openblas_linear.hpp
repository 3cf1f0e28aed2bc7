#pragma once

#include "qkv/ops/linear.hpp"

namespace qkv::ops {

/// Multiplies by the matrix where it lies, in either layout: nothing is copied, a mapped file stays the only copy.
[[nodiscard]] LinearBackend openblas_linear();

}  // namespace qkv::ops
