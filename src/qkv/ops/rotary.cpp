#include "qkv/ops/rotary.hpp"

#include <cmath>

#include "qkv/ops/parallel.hpp"

namespace qkv::ops {
namespace {

/// `count` pairs of numbers, from one to the next `step`, from a number to its partner `reach`.
inline void turn(float* numbers, const float* cosine, const float* sine, std::int64_t count, std::int64_t step,
                 std::int64_t reach) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const auto a = numbers[i * step];
    const auto b = numbers[i * step + reach];
    numbers[i * step] = a * cosine[i] - b * sine[i];
    numbers[i * step + reach] = b * cosine[i] + a * sine[i];
  }
}

void turn_halves(float* numbers, const float* cosine, const float* sine, std::int64_t count) {
  turn(numbers, cosine, sine, count, 1, count);
}

void turn_neighbours(float* numbers, const float* cosine, const float* sine, std::int64_t count) {
  turn(numbers, cosine, sine, count, 2, 1);
}

}  // namespace

void RotaryTable::extend(std::int64_t count) {
  const auto have = static_cast<std::int64_t>(rates_.empty() ? 0 : cosines_.size() / rates_.size());
  for (auto position = have; position < count; ++position) {
    for (const auto rate : rates_) {
      const auto angle = static_cast<double>(position) * rate;
      cosines_.push_back(static_cast<float>(magnitude_ * std::cos(angle)));
      sines_.push_back(static_cast<float>(magnitude_ * std::sin(angle)));
    }
  }
}

void RotaryTable::rotate(MatrixView x, std::int64_t head_dim, std::int64_t first) const {
  const auto half = static_cast<std::int64_t>(rates_.size());
  const auto turn = layout_ == RotaryLayout::halves ? turn_halves : turn_neighbours;
  for_runs_of_rows(x.rows, x.cols, [&](std::int64_t first_row, std::int64_t rows) {
    for (auto t = first_row; t < first_row + rows; ++t)
      for (std::int64_t head = 0; head < x.cols; head += head_dim)
        turn(x.row(t).data() + head, cosines_.data() + (first + t) * half, sines_.data() + (first + t) * half, half);
  });
}

}  // namespace qkv::ops
