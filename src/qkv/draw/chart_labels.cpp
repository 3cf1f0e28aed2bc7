#include "qkv/draw/chart_labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "qkv/draw/chart_style.hpp"

namespace qkv::draw {
namespace {

constexpr double gap = 9;            // from the end of a line to its name
constexpr double leader_width = 24;  // from the plot to names that could not stand where they belong
constexpr double unseen_shift = 2;

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool contains(const Box& whole, const Box& part) {
  return part.x >= whole.x && part.x + part.width <= whole.x + whole.width && part.y >= whole.y &&
         part.y + part.height <= whole.y + whole.height;
}

bool crosses(const std::vector<Point>& points, const Box& box) {
  for (std::size_t i = 0; i < points.size(); ++i)
    if (clipped(points[i == 0 ? 0 : i - 1], points[i], box)) return true;
  return false;
}

}  // namespace

std::optional<std::pair<Point, Point>> clipped(Point a, Point b, const Box& box) {
  // Liang and Barsky: each side of the box cuts off a part of t in a + t (b - a).
  double enter = 0;
  double leave = 1;
  const auto dx = b.x - a.x;
  const auto dy = b.y - a.y;
  const std::array<std::pair<double, double>, 4> sides{
      {{-dx, a.x - box.x}, {dx, box.x + box.width - a.x}, {-dy, a.y - box.y}, {dy, box.y + box.height - a.y}}};
  for (const auto& [speed, distance] : sides) {
    if (speed == 0 && distance < 0) return std::nullopt;
    if (speed < 0) enter = std::max(enter, distance / speed);
    if (speed > 0) leave = std::min(leave, distance / speed);
  }
  if (enter > leave) return std::nullopt;
  // The ends themselves stay as they are, to the bit: neighbouring parts of a line have to meet.
  const auto point = [&](double t) { return Point{a.x + t * dx, a.y + t * dy}; };
  return std::pair{enter > 0 ? point(enter) : a, leave < 1 ? point(leave) : b};
}

std::vector<double> spread(std::span<const double> wanted, double pitch, double low, double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });

  // Less i * pitch, the i-th position may equal the one before it but not be smaller: isotonic regression, by pooling
  // neighbours that are out of order until there are none.
  struct Pool {
    double sum;
    std::size_t count;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < order.size(); ++i) {
    pools.push_back({wanted[order[i]] - static_cast<double>(i) * pitch, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const auto last = pools.back();
      pools.pop_back();
      pools.back() = {pools.back().sum + last.sum, pools.back().count + last.count};
    }
  }
  std::vector<double> positions(wanted.size());
  const auto highest = std::max(low, high - static_cast<double>(wanted.size()) * pitch + pitch);
  std::size_t i = 0;
  for (const auto& pool : pools)
    for (std::size_t member = 0; member < pool.count; ++member, ++i)
      positions[order[i]] = std::clamp(pool.mean(), low, highest) + static_cast<double>(i) * pitch;
  return positions;
}

Box label_room(Point at, double width) { return {at.x - 4, at.y - label_pitch / 2, width + 8, label_pitch}; }

std::vector<LineLabel> place_labels(std::span<const NamedLine> lines, const Box& plot) {
  const auto right = plot.x + plot.width;
  // Other lines, and the leaders they would have, do not go through a name.
  const auto is_free = [&](const Box& room, const NamedLine& self) {
    return contains(plot, room) && std::none_of(lines.begin(), lines.end(), [&](const auto& other) {
             const auto end = other.points.back();
             const bool led_through = &other != &self && clipped(end, {right, end.y}, room).has_value();
             return led_through || crosses(other.points, room);
           });
  };
  std::vector<LineLabel> labels;
  std::vector<Box> taken;
  std::vector<double> wanted;  // heights of the labels outside
  for (const auto& line : lines) {
    const auto end = line.points.back();
    const Point behind{end.x + gap, end.y};
    const auto room = label_room(behind, line.name_width);
    const bool inside = is_free(room, line) && std::none_of(taken.begin(), taken.end(),
                                                            [&](const auto& other) { return overlap(room, other); });
    const bool ends_at_edge = end.x + 0.06 * plot.width > right;
    labels.push_back({inside ? behind : Point{right + gap, end.y}, inside, inside || ends_at_edge});
    if (inside)
      taken.push_back(room);
    else
      wanted.push_back(end.y);
  }
  const auto heights = spread(wanted, label_pitch, plot.y, plot.y + plot.height);
  auto height = heights.begin();
  for (auto& label : labels) {
    if (label.inside) continue;
    if (std::abs(*height - label.at.y) > unseen_shift) label.at_end = false;
    label.at.y = *height++;
  }
  // The names outside begin below each other.
  if (std::any_of(labels.begin(), labels.end(), [](const auto& label) { return !label.at_end; }))
    for (auto& label : labels)
      if (!label.inside) label.at.x = right + leader_width;
  return labels;
}

}  // namespace qkv::draw
