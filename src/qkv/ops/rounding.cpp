#include "qkv/ops/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace qkv::ops {
namespace {

void round_group(std::span<const float> x, std::span<float> y) {
  float largest = 0.0F;
  for (const auto number : x) largest = std::max(largest, std::abs(number));
  const auto step = largest / 127.0F;
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = step > 0.0F ? std::round(x[i] / step) * step : x[i];
}

}  // namespace

void round_in_groups(ConstMatrixView x, std::int64_t group, MatrixView y) {
  const auto size = static_cast<std::size_t>(group);
  for (std::int64_t t = 0; t < x.rows; ++t) {
    const auto from = x.row(t);
    const auto to = y.row(t);
    std::size_t at = 0;
    for (; at + size <= from.size(); at += size) round_group(from.subspan(at, size), to.subspan(at, size));
    std::copy(from.begin() + static_cast<std::ptrdiff_t>(at), from.end(), to.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace qkv::ops
