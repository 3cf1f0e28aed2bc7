#pragma once

#include <cstddef>

#include "qkv/tensor/dtype.hpp"

namespace qkv {

/// `n_blocks` blocks of a quantised dtype to f32: the numbers, bit for bit, that ggml's published block formats define
/// (each product and each difference rounded to f32 by itself). Any alignment.
void dequantize(DType dtype, const std::byte* from, std::size_t n_blocks, float* to);

}  // namespace qkv
