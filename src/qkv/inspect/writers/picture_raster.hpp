#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qkv::picture {

/// The entries of one side of a table, and the pixels they take: `merge` neighbours share one bin of `size` pixels.
struct Cells {
  std::int64_t entries = 1;
  std::int64_t merge = 1;
  int size = 1;

  [[nodiscard]] std::int64_t bins() const { return (entries + merge - 1) / merge; }
  [[nodiscard]] int extent() const { return static_cast<int>(bins()) * size; }
  /// The middle of an entry, in pixels from the start of the first.
  [[nodiscard]] double center(std::int64_t entry) const {
    return (static_cast<double>(entry) + 0.5) * size / static_cast<double>(merge);
  }
};

/// One table at the resolution of its picture: of the numbers that share a bin it keeps the one of largest magnitude,
/// NaN where there is none. Its memory is that of its bins, however many rows go in.
class Raster {
 public:
  Raster() = default;
  Raster(const Cells& down, const Cells& across);

  /// Adds the numbers of row `row`; NaN is no number.
  void add(std::int64_t row, std::span<const float> numbers);
  [[nodiscard]] float at(std::int64_t bin_down, std::int64_t bin_across) const {
    return bins_[static_cast<std::size_t>(bin_down * across_.bins() + bin_across)];
  }
  [[nodiscard]] std::span<const float> bins() const { return bins_; }

 private:
  Cells down_;
  Cells across_;
  std::vector<float> bins_;
};

}  // namespace qkv::picture
