#include "qkv/tokenizer/written_score.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace qkv::tokenizing {
namespace {

constexpr int largest_power = 308;

double power_of_ten(int exponent) {
  static const auto powers = [] {
    std::array<double, largest_power + 1> list{};
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = std::strtod(("1e" + std::to_string(i)).c_str(), nullptr);
    return list;
  }();
  return powers[static_cast<std::size_t>(exponent)];
}

/// The digits of a number as one whole number, and the power of ten that makes it the number.
struct Digits {
  std::uint64_t value = 0;
  int exponent = 0;
};

/// Digits that no longer fit are left out.
Digits read_digits(std::string_view text) {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  Digits digits;
  bool after_point = false;
  bool is_full = false;
  for (const char letter : text) {
    if (letter == '.') {
      after_point = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(letter - '0');
    is_full = is_full || digits.value > (largest - digit) / 10;
    if (!is_full) digits.value = digits.value * 10 + digit;
    if (after_point && !is_full) --digits.exponent;
    if (!after_point && is_full) ++digits.exponent;
  }
  return digits;
}

}  // namespace

double written_score(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto e = std::min(text.find_first_of("eE"), text.size());
  auto [digits, exponent] = read_digits(text.substr(0, e));
  if (e < text.size()) {
    constexpr long limit = 1'000'000;
    exponent +=
        static_cast<int>(std::clamp(std::strtol(std::string(text.substr(e + 1)).c_str(), nullptr, 10), -limit, limit));
  }
  auto number = static_cast<double>(digits);
  for (; exponent < -largest_power && number != 0; exponent += largest_power) number /= power_of_ten(largest_power);
  if (number != 0) {
    const auto power = power_of_ten(std::min(std::abs(exponent), largest_power));
    number = exponent < 0 ? number / power : number * power;
  }
  return negative ? -number : number;
}

}  // namespace qkv::tokenizing
