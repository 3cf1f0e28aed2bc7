#pragma once

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// y += x;  both [T, D].
void add(ConstMatrixView x, MatrixView y);

/// y *= x, number by number;  both [T, D].
void multiply(ConstMatrixView x, MatrixView y);

/// y *= factor.
void scale(float factor, MatrixView y);

/// y = cap tanh(y / cap), which holds every number within +-cap; off by at most 2e-7 of the cap.
void soft_cap(float cap, MatrixView y);

/// Every number of y outside of +-bound becomes the nearer of the two.
void clip(float bound, MatrixView y);

/// y = 0.
void clear(MatrixView y);

}  // namespace qkv::ops
