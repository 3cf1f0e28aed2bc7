#include "qkv/inspect/writers/html_codes.hpp"

#include <bit>
#include <cmath>

namespace qkv {
namespace {

constexpr std::int64_t most_exact_bytes = std::int64_t{4} << 20U;

struct Decimal {
  std::uint32_t mantissa;  // as many digits as were asked for
  int exponent;            // of ten
};

/// A finite number above 0, rounded to `digits` significant decimal digits, halves up.
Decimal to_decimal(double number, int digits) {
  const double limit = std::pow(10.0, digits);
  int exponent = static_cast<int>(std::floor(std::log10(number))) + 1 - digits;
  const auto scaled = [&] {
    return exponent < 0 ? number * std::pow(10.0, -exponent) : number / std::pow(10.0, exponent);
  };
  double mantissa = std::round(scaled());
  while (mantissa >= limit || mantissa * 10 < limit) {  // the logarithm, or the rounding, crossed a power of ten
    exponent += mantissa >= limit ? 1 : -1;
    mantissa = std::round(scaled());
  }
  return {static_cast<std::uint32_t>(mantissa), exponent};
}

}  // namespace

std::string_view name_of(HtmlCode code) {
  switch (code) {
    case HtmlCode::f32:
      return "f32";
    case HtmlCode::dec4:
      return "dec4";
    case HtmlCode::dec5:
      break;
  }
  return "dec5";
}

HtmlCode choose_html_code(std::string_view what, std::int64_t cells) {
  if (cells <= most_exact_bytes / 4) return HtmlCode::f32;
  return what == "weights" ? HtmlCode::dec4 : HtmlCode::dec5;
}

std::uint32_t html_dec4(float number) {
  if (number == 0) return 0;
  if (!(number > 0) || std::isinf(number)) return 2;
  const auto decimal = to_decimal(number, 4);
  if (decimal.exponent > -4) return 3;
  const auto e = static_cast<std::uint32_t>(-4 - decimal.exponent);
  return e > 28 ? 1 : 4 + 9000 * e + (decimal.mantissa - 1000);
}

std::uint32_t html_dec5(float number) {
  if (number == 0) return 0;
  if (std::isnan(number)) return 1;
  const std::uint32_t sign = std::signbit(number) ? 1 : 0;
  if (std::isinf(number)) return 2 + sign;
  const auto decimal = to_decimal(std::abs(number), 5);
  const auto e = static_cast<std::uint32_t>(decimal.exponent + 50);
  return 4 + 90000 * (2 * e + sign) + (decimal.mantissa - 10000);
}

void HtmlPacker::append(std::span<const float> numbers, std::string& text) {
  for (const auto number : numbers) {
    switch (code_) {
      case HtmlCode::dec4:
        put_base64(html_dec4(number), 3, text);
        break;
      case HtmlCode::dec5:
        put_base64(html_dec5(number), 4, text);
        break;
      case HtmlCode::f32: {
        const auto bits = std::bit_cast<std::uint32_t>(number);
        for (unsigned shift = 0; shift < 32; shift += 8)
          base64_.put(static_cast<unsigned char>((bits >> shift) & 0xFFU), text);
        break;
      }
    }
  }
}

}  // namespace qkv
