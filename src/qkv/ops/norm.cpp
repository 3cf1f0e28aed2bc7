#include "qkv/ops/norm.hpp"

#include <cmath>

#include "qkv/ops/parallel.hpp"

namespace qkv::ops {
namespace {

/// y = (x - mean) * factor * gain + bias, one row. An empty gain is 1 everywhere, an empty bias 0.
void scale_row(std::span<const float> x, float mean, float factor, std::span<const float> gain,
               std::span<const float> bias, std::span<float> y) {
  if (gain.empty() && bias.empty())
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (x[i] - mean) * factor;
  else if (gain.empty())
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (x[i] - mean) * factor + bias[i];
  else if (bias.empty())
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (x[i] - mean) * factor * gain[i];
  else
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (x[i] - mean) * factor * gain[i] + bias[i];
}

/// Sum of a row. The order of the additions is left to the compiler, so that it can use vectors.
float sum(std::span<const float> x) {
  float total = 0.0F;
#pragma omp simd reduction(+ : total)
  for (std::size_t i = 0; i < x.size(); ++i) total += x[i];
  return total;
}

float sum_of_squares(std::span<const float> x, float mean) {
  float total = 0.0F;
#pragma omp simd reduction(+ : total)
  for (std::size_t i = 0; i < x.size(); ++i) total += (x[i] - mean) * (x[i] - mean);
  return total;
}

}  // namespace

void layer_norm(ConstMatrixView x, std::span<const float> gain, std::span<const float> bias, float epsilon,
                MatrixView y) {
  const auto width = static_cast<float>(x.cols);
  for_runs_of_rows(x.rows, x.cols, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = first; t < first + rows; ++t) {
      const auto mean = sum(x.row(t)) / width;
      const auto variance = sum_of_squares(x.row(t), mean) / width;
      scale_row(x.row(t), mean, 1.0F / std::sqrt(variance + epsilon), gain, bias, y.row(t));
    }
  });
}

void rms_norm(ConstMatrixView x, std::span<const float> gain, std::span<const float> bias, float epsilon,
              MatrixView y) {
  const auto width = static_cast<float>(x.cols);
  for_runs_of_rows(x.rows, x.cols, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = first; t < first + rows; ++t) {
      const auto mean_square = sum_of_squares(x.row(t), 0.0F) / width;
      scale_row(x.row(t), 0.0F, 1.0F / std::sqrt(mean_square + epsilon), gain, bias, y.row(t));
    }
  });
}

}  // namespace qkv::ops
