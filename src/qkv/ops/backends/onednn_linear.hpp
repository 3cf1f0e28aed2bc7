#pragma once

#include "qkv/ops/linear.hpp"

namespace qkv::ops {

/// Packs each matrix once, in the form that oneDNN asks for, in f32 or bf16, and needs the loaded one no more. Up to
/// some hundred rows are multiplied by a product of our own that reads the same packed numbers. Primitives are made
/// once for each shape of matrix and number of rows, and shared by all matrices of that shape.
[[nodiscard]] LinearBackend onednn_linear();

}  // namespace qkv::ops
