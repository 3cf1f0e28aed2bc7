#include "qkv/ops/elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "qkv/ops/parallel.hpp"

namespace qkv::ops {
namespace {

/// Calls change(y, x) for each pair of numbers of two matrices, in a loop that the compiler can vectorise.
template <typename Change>
void each_pair(ConstMatrixView x, MatrixView y, Change change) {
  for_runs_of_rows(y.rows, y.cols, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = first; t < first + rows; ++t) {
      const auto from = x.row(t);
      const auto to = y.row(t);
      for (std::size_t i = 0; i < to.size(); ++i) change(to[i], from[i]);
    }
  });
}

}  // namespace

void add(ConstMatrixView x, MatrixView y) {
  each_pair(x, y, [](float& to, float from) { to += from; });
}

void multiply(ConstMatrixView x, MatrixView y) {
  each_pair(x, y, [](float& to, float from) { to *= from; });
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
