#include "qkv/ops/softmax.hpp"

#include <algorithm>
#include <span>

#include "qkv/ops/exponential.hpp"

namespace qkv::ops {
namespace {

float largest_of(std::span<const float> row) {
  constexpr std::size_t worth_vectors = 64;
  float largest = row.front();
  if (row.size() < worth_vectors) {
    for (const auto number : row) largest = std::max(largest, number);
    return largest;
  }
#pragma omp simd reduction(max : largest)  // with std::max the compiler makes no vectors of it
  for (std::size_t i = 0; i < row.size(); ++i) largest = row[i] > largest ? row[i] : largest;
  return largest;
}

/// cells = exp(cells - largest); their sum.
float exponentiate(std::span<float> cells, float largest) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto power = exponential(cells[i] - largest);
    cells[i] = power;
    sum += power;
  }
  return sum;
}

void softmax(std::span<float> row) {
  constexpr std::size_t run = 256;  // a longer one of f32 additions would be off by more than 1e-6
  const auto largest = largest_of(row);
  double sum = 0.0;
  for (std::size_t first = 0; first < row.size(); first += run)
    sum += static_cast<double>(exponentiate(row.subspan(first, std::min(run, row.size() - first)), largest));
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
