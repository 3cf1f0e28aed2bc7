#pragma once

#include <cstddef>
#include <cstdint>

#include "qkv/ops/linear.hpp"

/// One row times a packed matrix, as in each step of a generation that keeps keys and values. Such a product is bound
/// by reading the weights: this one reads them once, in order, from all threads.
namespace qkv::ops {

/// A packed matrix: panels of 64 outputs; in a panel the inputs one after the other, each with its 64 numbers. In bf16
/// two inputs at a time, the two numbers of an output side by side. What fills up the last panel, or the last pair, is
/// 0.
struct Panels {
  const std::byte* numbers = nullptr;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t panel_bytes = 0;  // from one panel to the next
};

inline constexpr std::int64_t panel_outputs = 64;

/// Whether this processor has the instructions; where it has not, multiply_row must not be called.
[[nodiscard]] bool has_row_product(Precision precision);

/// y = W x + b;  x [in], bias [out] or null, y [out]. Each output is a sum of sums over `piece` inputs, in order.
void multiply_row(const float* x, const Panels& W, const float* bias, std::int64_t piece, float* y);
/// The same in bf16: x holds one number more, 0, when `in` is odd. `piece` is even.
void multiply_row(const std::uint16_t* x, const Panels& W, const float* bias, std::int64_t piece, float* y);

}  // namespace qkv::ops
