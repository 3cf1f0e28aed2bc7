#pragma once

#include <cstddef>
#include <cstdint>

#include "qkv/ops/linear.hpp"

/// A few rows times a packed matrix, as in the steps of a generation that keeps keys and values, and in short prompts.
/// Such a product is bound by reading the weights: this one reads them once, in order, from all threads, and asks for
/// the next ones while it multiplies. With some hundred rows it keeps pace with oneDNN's.
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

/// Whether this processor has the instructions; where it has not, multiply_panels must not be called.
[[nodiscard]] bool has_panel_product(Precision precision);

/// Whether so many rows are divided among the threads. What a thread makes of a row it then finds in its own cache when
/// it goes on with that row: a pass of 256 tokens in bf16 takes 115 ms instead of 122 where caches are far from each
/// other, and as long as before where they are not. In return each thread reads all weights, so it must have many rows,
/// and the more the more threads there are.
[[nodiscard]] bool shares_rows(std::int64_t rows, std::int64_t threads);

/// y = x Wᵀ + b;  x [rows, in], y [rows, out], both without gaps between rows; bias [out] or null. Each output is a sum
/// of sums over `piece` inputs, in order, and so does not depend on the other rows nor on the threads.
void multiply_panels(const float* x, std::int64_t rows, const Panels& W, const float* bias, std::int64_t piece,
                     float* y);
/// The same in bf16, for an even `in` or a single row, behind which lies a 0. `piece` is even.
void multiply_panels(const std::uint16_t* x, std::int64_t rows, const Panels& W, const float* bias, std::int64_t piece,
                     float* y);

}  // namespace qkv::ops
