#include "qkv/ops/rotary.hpp"

#include <cmath>

namespace qkv::ops {

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
  const auto half = rates_.size();
  const auto step = layout_ == RotaryLayout::halves ? std::size_t{1} : std::size_t{2};  // from one pair to the next
  const auto reach = layout_ == RotaryLayout::halves ? half : std::size_t{1};           // from a number to its partner
  for (std::int64_t t = 0; t < x.rows; ++t) {
    const auto* cosine = cosines_.data() + static_cast<std::size_t>(first + t) * half;
    const auto* sine = sines_.data() + static_cast<std::size_t>(first + t) * half;
    for (std::int64_t head = 0; head < x.cols; head += head_dim) {
      auto* numbers = x.data + t * x.stride + head;
      for (std::size_t i = 0; i < half; ++i) {
        const auto a = numbers[i * step];
        const auto b = numbers[i * step + reach];
        numbers[i * step] = a * cosine[i] - b * sine[i];
        numbers[i * step + reach] = b * cosine[i] + a * sine[i];
      }
    }
  }
}

}  // namespace qkv::ops
