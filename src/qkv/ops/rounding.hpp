#pragma once

#include <cstdint>

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// y = x as signed bytes would keep it: in each group of `group` numbers of a row, the nearest of the 255 multiples of
/// its largest magnitude / 127, halves away from zero. Numbers after a row's last whole group stay as they are.
/// x and y [T, D].
void round_in_groups(ConstMatrixView x, std::int64_t group, MatrixView y);

}  // namespace qkv::ops
