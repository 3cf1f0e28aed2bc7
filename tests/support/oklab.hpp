#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "qkv/draw/color.hpp"

namespace qkv::test {

using Channels = std::array<double, 3>;

inline double linear(std::uint8_t channel) {
  const auto value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

inline Channels linear(Color color) { return {linear(color.red), linear(color.green), linear(color.blue)}; }

/// From linear sRGB to OKLab: the way back from what a ColorScale computes, with the other pair of matrices.
inline Channels oklab(const Channels& rgb) {
  const auto [r, g, b] = rgb;
  const auto l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const auto m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const auto s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

inline Channels oklab(Color color) { return oklab(linear(color)); }

inline double distance(const Channels& a, const Channels& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
inline double distance(Color one, Color other) { return distance(oklab(one), oklab(other)); }

}  // namespace qkv::test
