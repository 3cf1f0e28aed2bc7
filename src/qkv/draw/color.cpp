#include "qkv/draw/color.hpp"

#include <cmath>

namespace qkv {
namespace {

double linear_channel(std::uint8_t encoded) {
  const auto value = encoded / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

}  // namespace

Color readable_on(Color background) {
  const auto luminance = 0.2126 * linear_channel(background.red) + 0.7152 * linear_channel(background.green) +
                         0.0722 * linear_channel(background.blue);
  // Contrast as WCAG 2 defines it: black and white ink are equally readable where (Y + 0.05)^2 = 1.05 * 0.05.
  return luminance > std::sqrt(1.05 * 0.05) - 0.05 ? Color{0, 0, 0} : Color{255, 255, 255};
}

}  // namespace qkv
