#include "qkv/draw/chart_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "qkv/draw/canvas.hpp"
#include "qkv/draw/chart_style.hpp"

namespace qkv::draw {
namespace {

constexpr double room_within = 0.035;  // of an axis, between its ends and the numbers on it
constexpr double least_span = 0.6;     // decades: a logarithmic axis of fewer shows noise as if it were a trend
constexpr int coarsest = 400;

bool can_be_read(const std::vector<AxisTick>& ticks, bool horizontal) {
  double room = label_pitch;
  if (horizontal)
    for (const auto& tick : ticks) room = std::max(room, text_width(tick.label, label_size) + 12);
  for (std::size_t i = 1; i < ticks.size(); ++i)
    if (std::abs(ticks[i].at - ticks[i - 1].at) < room) return false;
  return true;
}

/// The numbers d * 10^k between two powers of ten (given as exponents), for the digits d and every `step`-th k.
std::vector<double> decades(double low, double high, std::span<const int> digits, int step) {
  std::vector<double> values;
  const auto first = static_cast<int>(std::floor(low / step)) * step;
  for (int exponent = first; exponent <= high; exponent += step)
    for (const auto digit : digits) values.push_back(digit * std::pow(10, exponent));
  return values;
}

std::vector<double> powers_of_two(double high, int step) {
  std::vector<double> values;
  for (int exponent = 0; exponent * std::log10(2.0) <= high; exponent += step) values.push_back(std::exp2(exponent));
  return values;
}

}  // namespace

double round_step(double limit, double most) {
  const auto power = std::pow(10, std::floor(std::log10(limit / most)));
  for (const auto factor : {1.0, 2.0, 5.0})
    if (limit / (factor * power) <= most * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

std::string quantity_text(Quantity quantity, double value) {
  if (quantity == Quantity::count) {
    const bool whole = value == std::floor(value) && value < 1e9;
    return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  }
  constexpr std::array<std::pair<double, const char*>, 4> units{
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "\u00B5s"}, {1e-9, "ns"}}};
  for (const auto& [unit, name] : units)
    if (value >= unit * (1 - 1e-9)) return fmt::format("{:.4g} {}", value / unit, name);
  return value > 0 ? fmt::format("{:.4g} ns", value * 1e9) : std::string("0");
}

AxisScale::AxisScale(const ChartAxis& axis, double low, double high, double from, double to)
    : quantity_(axis.quantity), logarithmic_(axis.logarithmic), low_(0), high_(high), from_(from), to_(to) {
  if (logarithmic_) {
    low_ = std::log10(low);
    high_ = std::log10(high);
    const auto missing = std::max(0.0, least_span - (high_ - low_));
    low_ -= missing / 2;
    high_ += missing / 2;
  }
  const auto room = room_within * (high_ - low_);
  high_ += room;
  if (logarithmic_) low_ -= room;
}

double AxisScale::coordinate(double value) const { return logarithmic_ ? std::log10(value) : value; }

double AxisScale::at(double value) const { return from_ + (coordinate(value) - low_) / (high_ - low_) * (to_ - from_); }

std::vector<double> AxisScale::round_values(int coarseness) const {
  if (!logarithmic_) {
    const auto most = std::max(1, 9 - coarseness);
    const auto step =
        quantity_ == Quantity::count ? std::exp2(std::ceil(std::log2(high_ / most))) : round_step(high_, most);
    std::vector<double> values;
    for (int i = 0; i <= most; ++i) values.push_back(i * step);
    return values;
  }
  if (quantity_ == Quantity::count) return powers_of_two(high_, coarseness + 1);
  static constexpr std::array all{1, 2, 3, 4, 5, 6, 7, 8, 9};
  static constexpr std::array few{1, 2, 5};
  static constexpr std::array one{1};
  if (coarseness == 0) return decades(low_, high_, all, 1);
  if (coarseness == 1) return decades(low_, high_, few, 1);
  return decades(low_, high_, one, coarseness - 1);
}

std::vector<AxisTick> AxisScale::ticks(bool horizontal) const {
  for (int coarseness = 0; coarseness < coarsest; ++coarseness) {
    std::vector<AxisTick> ticks;
    for (const auto value : round_values(coarseness))
      if (coordinate(value) >= low_ && coordinate(value) <= high_)
        ticks.push_back({value, at(value), quantity_text(quantity_, value)});
    if (can_be_read(ticks, horizontal)) return ticks;
  }
  return {};
}

}  // namespace qkv::draw
