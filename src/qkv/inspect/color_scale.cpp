#include "qkv/inspect/color_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ranges>

#include "qkv/draw/chart_axis.hpp"

namespace qkv {
namespace {

constexpr std::size_t color_count = 1025;  // odd: a diverging bar has a middle

std::uint8_t srgb_channel(double linear) {
  const auto clamped = std::clamp(linear, 0.0, 1.0);
  const auto encoded = clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * encoded));
}

/// OKLab to sRGB; the matrices are those of its definition.
Color srgb(double lightness, double a, double b) {
  const auto cube = [](double x) { return x * x * x; };
  const auto l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const auto m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const auto s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {srgb_channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb_channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb_channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Color along(const ColorRamp& ramp, double t) {
  const auto hue = std::lerp(ramp.hue[0], ramp.hue[1], t) * std::numbers::pi / 180;
  const auto chroma =
      std::lerp(std::lerp(ramp.chroma[0], ramp.chroma[1], t), std::lerp(ramp.chroma[1], ramp.chroma[2], t), t);
  return srgb(std::lerp(ramp.lightness[0], ramp.lightness[1], t), chroma * std::cos(hue), chroma * std::sin(hue));
}

}  // namespace

ColorScale::ColorScale(Kind kind, Mapping mapping, double limit)
    : kind_(kind), mapping_(mapping), limit_(std::isfinite(limit) && limit > 0 ? limit : 1) {
  if (mapping_ == Mapping::logarithmic) floor_ = std::pow(10, std::floor(std::log10(limit_) - 4 + 1e-9));
  colors_.reserve(color_count);
  for (std::size_t i = 0; i < color_count; ++i) {
    const auto t = static_cast<double>(i) / (color_count - 1);
    if (kind_ == Kind::sequential)
      colors_.push_back(along(sequential_ramp, t));
    else
      colors_.push_back(t < 0.5 ? along(negative_ramp, 1 - 2 * t) : along(positive_ramp, 2 * t - 1));
  }
}

Color ColorScale::operator()(float value) const { return std::isnan(value) ? paper : at(position(value)); }

Color ColorScale::at(double position) const {
  return colors_[static_cast<std::size_t>(std::lround(std::clamp(position, 0.0, 1.0) * (color_count - 1)))];
}

double ColorScale::strength(double magnitude) const {
  if (mapping_ == Mapping::linear) return std::min(magnitude / limit_, 1.0);
  if (magnitude <= floor_) return 0;
  return std::min(std::log(magnitude / floor_) / std::log(limit_ / floor_), 1.0);
}

double ColorScale::position(double value) const {
  const auto size = strength(std::abs(value));
  if (kind_ == Kind::sequential) return value > 0 ? size : 0;
  return value < 0 ? 0.5 - size / 2 : 0.5 + size / 2;
}

std::vector<ScaleTick> ColorScale::ticks() const {
  const bool diverging = kind_ == Kind::diverging;
  std::vector<double> magnitudes;  // above 0, below the limit
  if (mapping_ == Mapping::linear) {
    const auto step = draw::round_step(limit_, diverging ? 3 : 5);
    for (int i = 1; i * step < limit_; ++i) magnitudes.push_back(i * step);
  } else {
    for (int decade = 1; floor_ * std::pow(10, decade) < limit_; ++decade)
      magnitudes.push_back(floor_ * std::pow(10, decade));
  }
  // The end is marked in any case; a round number too close to it makes room.
  while (!magnitudes.empty() && 1 - strength(magnitudes.back()) < (diverging ? 0.16 : 0.08)) magnitudes.pop_back();
  magnitudes.push_back(limit_);

  const auto label = [](double value) { return fmt::format("{:.3g}", value); };
  std::vector<ScaleTick> ticks;
  if (diverging)
    for (const auto magnitude : std::views::reverse(magnitudes))
      ticks.push_back({position(-magnitude), label(-magnitude)});
  const auto floor_label = fmt::format("{}{} or less", diverging ? "\u00B1" : "", label(floor_));
  ticks.push_back({position(0), mapping_ == Mapping::linear ? std::string("0") : floor_label});
  for (const auto magnitude : magnitudes) ticks.push_back({position(magnitude), label(magnitude)});
  return ticks;
}

std::string short_number(double value) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return fmt::format("{}", value);
  auto exact = fmt::format("{:.1e}", value);  // rounds first: 0.0999 is 0.10
  const auto exponent = std::stoi(exact.substr(exact.find('e') + 1));
  if (exponent < -3 || exponent > 4) return exact;
  return fmt::format("{:.{}f}", value, std::max(0, 1 - exponent));
}

}  // namespace qkv
