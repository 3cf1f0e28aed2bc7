#include "qkv/ops/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace qkv::ops {
namespace {

/// Calls change(y, x) for each pair of numbers in two rows, in a loop that the compiler can vectorise.
template <typename Change>
void each_pair(std::span<const float> x, std::span<float> y, Change change) {
  for (std::size_t i = 0; i < y.size(); ++i) change(y[i], x[i]);
}

}  // namespace

void add(ConstMatrixView x, MatrixView y) {
  for (std::int64_t t = 0; t < y.rows; ++t) each_pair(x.row(t), y.row(t), [](float& to, float from) { to += from; });
}

void multiply(ConstMatrixView x, MatrixView y) {
  for (std::int64_t t = 0; t < y.rows; ++t) each_pair(x.row(t), y.row(t), [](float& to, float from) { to *= from; });
}

void scale(float factor, MatrixView y) {
  for (std::int64_t t = 0; t < y.rows; ++t)
    for (auto& number : y.row(t)) number *= factor;
}

void soft_cap(float cap, MatrixView y) {
  for (std::int64_t t = 0; t < y.rows; ++t)
    for (auto& number : y.row(t)) number = cap * std::tanh(number / cap);
}

void clip(float bound, MatrixView y) {
  for (std::int64_t t = 0; t < y.rows; ++t)
    for (auto& number : y.row(t)) number = std::clamp(number, -bound, bound);
}

void clear(MatrixView y) {
  for (std::int64_t t = 0; t < y.rows; ++t) {
    const auto row = y.row(t);
    std::fill(row.begin(), row.end(), 0.0F);
  }
}

}  // namespace qkv::ops
