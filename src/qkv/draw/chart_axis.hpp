#pragma once

#include <string>
#include <vector>

namespace qkv::draw {

/// What the numbers of an axis are. Counts are marked at powers of two and multiples of them, durations at 1, 2 and 5
/// times a power of ten, in the unit that reads best: "200 ns", "50 ms", "2 s".
enum class Quantity { count, seconds };

struct ChartAxis {
  std::string title;
  Quantity quantity = Quantity::count;
  bool logarithmic = true;  // a linear axis begins at 0
};

struct AxisTick {
  double value;
  double at;  // pixels
  std::string label;
};

/// Where the numbers of an axis stand in a picture.
class AxisScale {
 public:
  /// Numbers from `low` to `high`, both positive, between the pixels `from` and `to`, which they leave some room.
  AxisScale(const ChartAxis& axis, double low, double high, double from, double to);

  [[nodiscard]] double at(double value) const;
  /// As many marks as can be labelled side by side, or below each other.
  [[nodiscard]] std::vector<AxisTick> ticks(bool horizontal) const;

 private:
  [[nodiscard]] double coordinate(double value) const;
  [[nodiscard]] std::vector<double> round_values(int coarseness) const;

  Quantity quantity_;
  bool logarithmic_;
  double low_;  // coordinates: numbers, or their logarithms to the base 10
  double high_;
  double from_;
  double to_;
};

/// A number in four significant digits with its unit: "23.1 ms", "1024".
[[nodiscard]] std::string quantity_text(Quantity quantity, double value);

/// 1, 2 or 5 times a power of ten, so that `limit` holds at most `most` of them.
[[nodiscard]] double round_step(double limit, double most);

}  // namespace qkv::draw
