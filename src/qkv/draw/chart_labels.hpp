#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "qkv/draw/canvas.hpp"

namespace qkv::draw {

/// A line of a chart in pixels, and how wide its name is.
struct NamedLine {
  std::vector<Point> points;  // from left to right, at least one
  double name_width;
};

/// Where the name of a line begins.
struct LineLabel {
  Point at;
  bool inside;  // in the plot
  bool at_end;  // right behind the end of its line: else a leader has to connect them
};

/// One label for each line; none overlaps another. A line that ends early has its name right behind its end where
/// nothing is in the way. The others stand to the right of the plot, between its top and bottom as long as there is
/// room for them.
[[nodiscard]] std::vector<LineLabel> place_labels(std::span<const NamedLine> lines, const Box& plot);

/// The room of a name that begins at a point.
[[nodiscard]] Box label_room(Point at, double width);

/// Positions in the same order as the wanted ones, `pitch` or more apart, within low and high where they fit, and
/// otherwise as close to the wanted ones as can be (least squares).
[[nodiscard]] std::vector<double> spread(std::span<const double> wanted, double pitch, double low, double high);

/// The part of the line from a to b that lies in the box.
[[nodiscard]] std::optional<std::pair<Point, Point>> clipped(Point a, Point b, const Box& box);

}  // namespace qkv::draw
