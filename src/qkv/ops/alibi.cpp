#include "qkv/ops/alibi.hpp"

#include <bit>

namespace qkv::ops {
namespace {

/// To the nearest bf16, ties to even; finite numbers only.
float rounded_to_bf16(float number) {
  auto bits = std::bit_cast<std::uint32_t>(number);
  bits += 0x7FFFU + (bits >> 16U & 1U);
  return std::bit_cast<float>(bits & 0xFFFF0000U);
}

}  // namespace

Alibi::Alibi(std::vector<float> slopes, bool rounded, float factor)
    : slopes_(std::move(slopes)), rounded_(rounded), factor_(factor) {
  if (rounded_)
    for (auto& slope : slopes_) slope = rounded_to_bf16(slope);
}

void Alibi::add(std::int64_t head, std::int64_t first, MatrixView scores) const {
  const auto slope = slopes_[static_cast<std::size_t>(head)];
  for (std::int64_t t = 0; t < scores.rows; ++t) {
    const auto row = scores.row(t);
    for (std::int64_t key = 0; key < scores.cols; ++key) {
      const auto bias = rounded_ ? rounded_to_bf16(slope * rounded_to_bf16(static_cast<float>(key)))
                                 : slope * static_cast<float>(key - first - t);
      row[static_cast<std::size_t>(key)] += factor_ * bias;
    }
  }
}

}  // namespace qkv::ops
