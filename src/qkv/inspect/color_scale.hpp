#pragma once

#include <array>
#include <string>
#include <vector>

#include "qkv/draw/color.hpp"

namespace qkv {

/// One mark on the colour bar.
struct ScaleTick {
  double position;  // 0 .. 1 along the bar
  std::string label;
};

/// A curve through OKLab from the light end (position 0) to the dark end (position 1): lightness and hue run linearly,
/// chroma along a parabola through its three values. All of it lies inside sRGB, so no channel is ever clipped.
struct ColorRamp {
  std::array<double, 2> lightness;
  std::array<double, 2> hue;     // degrees
  std::array<double, 3> chroma;  // control values of a quadratic Bezier curve
};

/// The colours of every picture and page: blue is negative, red is positive.
inline constexpr ColorRamp sequential_ramp{
    {0.95, 0.27}, {100, 285}, {0.04, 0.11, 0.085}};                                   // cream, green, blue, violet
inline constexpr ColorRamp negative_ramp{{0.95, 0.40}, {240, 262}, {0, 0.13, 0.14}};  // grey to blue
inline constexpr ColorRamp positive_ramp{{0.95, 0.40}, {60, 35}, {0, 0.15, 0.12}};    // grey to red

/// What colour a number has. The colours are evenly spaced for the eye: their lightness in OKLab (Ottosson, "A
/// perceptual color space for image processing", 2020) is a linear function of the position on the bar, and hue and
/// chroma change slowly beside it.
///
/// A sequential scale goes from 0 (light) to `limit` (dark), a diverging one from -limit (dark blue) over 0 (light) to
/// +limit (dark red). With a logarithmic mapping equal ratios are equal steps: magnitudes up to floor() have the colour
/// of 0, which its tick says.
class ColorScale {
 public:
  enum class Kind { sequential, diverging };
  enum class Mapping { linear, logarithmic };

  /// `limit` is a magnitude: the largest number that is shown. Where it is not a positive number, 1 stands for it.
  ColorScale(Kind kind, Mapping mapping, double limit);

  /// NaN is masked: paper, which no number has, not even 0. Numbers beyond the limit, infinities too, have the colour
  /// of the limit.
  [[nodiscard]] Color operator()(float value) const;
  /// The colour at a position of the bar, 0 .. 1.
  [[nodiscard]] Color at(double position) const;
  /// Where on the bar a number stands; not for NaN.
  [[nodiscard]] double position(double value) const;

  /// Marks for the bar, from its low to its high end. The high end is always marked.
  [[nodiscard]] std::vector<ScaleTick> ticks() const;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] Mapping mapping() const { return mapping_; }
  [[nodiscard]] double limit() const { return limit_; }
  /// Logarithmic: the power of ten below which magnitudes count as 0, at least four decades below the limit. Linear: 0.
  [[nodiscard]] double floor() const { return floor_; }

 private:
  [[nodiscard]] double strength(double magnitude) const;

  Kind kind_;
  Mapping mapping_;
  double limit_;
  double floor_ = 0;
  std::vector<Color> colors_;  // along the bar
};

/// A number in two significant digits, more before the point where it is large: "0.041", "3.4e-05", "128", "0".
[[nodiscard]] std::string short_number(double value);

}  // namespace qkv
