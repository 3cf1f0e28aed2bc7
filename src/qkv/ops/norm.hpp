#pragma once

#include <span>

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// Each row of x [T, D], shifted to mean 0 and scaled to variance 1 (of the population, epsilon added before the
/// root), times gain [D], plus bias [D] (both may be empty).  y [T, D], which may be x.  Ba, Kiros and Hinton, "Layer
/// Normalization", 2016.
void layer_norm(ConstMatrixView x, std::span<const float> gain, std::span<const float> bias, float epsilon,
                MatrixView y);

/// Each row of x [T, D] divided by the root of its mean square plus epsilon, times gain [D], plus bias [D] (may be
/// empty, gain too).  y [T, D], which may be x.  Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
void rms_norm(ConstMatrixView x, std::span<const float> gain, std::span<const float> bias, float epsilon, MatrixView y);

}  // namespace qkv::ops
