#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "qkv/tensor/matrix.hpp"
#include "support/numbers.hpp"

namespace qkv::test {

/// A window of rows x cols numbers inside a larger block of NaNs of one bit pattern. What is read from outside the
/// window poisons the result; what is written there changes a pattern.
class GuardedMatrix {
 public:
  /// `margin` guard numbers stand on both sides of each row, and a row of them above and below.
  GuardedMatrix(std::int64_t rows, std::int64_t cols, std::int64_t margin = 3)
      : rows_(rows),
        cols_(cols),
        margin_(margin),
        stride_(cols + 2 * margin),
        block_(static_cast<std::size_t>((rows + 2) * stride_), std::bit_cast<float>(pattern)) {}

  GuardedMatrix& fill(Numbers& numbers, float scale = 1.0F) {
    for (std::int64_t r = 0; r < rows_; ++r)
      for (auto& number : view().row(r)) number = scale * numbers.next();
    return *this;
  }

  [[nodiscard]] MatrixView view() { return {block_.data() + stride_ + margin_, rows_, cols_, stride_}; }
  [[nodiscard]] float& at(std::int64_t r, std::int64_t c) { return view().at(r, c); }

  [[nodiscard]] bool guards_intact() const {
    for (std::int64_t r = -1; r <= rows_; ++r)
      for (std::int64_t c = -margin_; c < cols_ + margin_; ++c) {
        const bool inside = r >= 0 && r < rows_ && c >= 0 && c < cols_;
        const auto number = block_[static_cast<std::size_t>((r + 1) * stride_ + margin_ + c)];
        if (!inside && std::bit_cast<std::uint32_t>(number) != pattern) return false;
      }
    return true;
  }

 private:
  static constexpr std::uint32_t pattern = 0x7FC0BEEF;
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t margin_;
  std::int64_t stride_;
  std::vector<float> block_;
};

}  // namespace qkv::test
