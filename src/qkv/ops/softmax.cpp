#include "qkv/ops/softmax.hpp"

#include <algorithm>
#include <span>

#include "qkv/ops/exponential.hpp"

namespace qkv::ops {
namespace {

void softmax(std::span<float> row) {
  float largest = row.front();
#pragma omp simd reduction(max : largest)
  for (std::size_t i = 0; i < row.size(); ++i) largest = std::max(largest, row[i]);
  double sum = 0.0;  // a long row of f32 additions would be off by more than 1e-6
  auto* cells = row.data();
#pragma omp simd
  for (std::size_t i = 0; i < row.size(); ++i) cells[i] = exponential(cells[i] - largest);
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < row.size(); ++i) sum += static_cast<double>(cells[i]);
  const auto share = static_cast<float>(1.0 / sum);
  for (auto& cell : row) cell *= share;
}

}  // namespace

void causal_softmax(MatrixView table, std::int64_t past, std::int64_t window) {
  for (std::int64_t t = 0; t < table.rows; ++t) {
    const auto end = std::min(past + t + 1, table.cols);
    const auto begin = window == 0 ? 0 : std::max<std::int64_t>(0, past + t + 1 - window);
    const auto row = table.row(t);
    softmax(row.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    std::fill(row.begin(), row.begin() + begin, 0.0F);
    std::fill(row.begin() + end, row.end(), 0.0F);
  }
}

}  // namespace qkv::ops
