#pragma once

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// y += x;  both [T, D].
void add(ConstMatrixView x, MatrixView y);

/// y *= x, number by number;  both [T, D].
void multiply(ConstMatrixView x, MatrixView y);

/// y *= factor.
void scale(float factor, MatrixView y);

/// y = 0.
void clear(MatrixView y);

}  // namespace qkv::ops
