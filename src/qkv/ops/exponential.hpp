#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace qkv::ops {

/// exp(x) within 2e-7 of it, relatively; 0 below -87.3, where the result is no normal number any more; infinite above
/// 88.3, a little before it has to be (88.7), since the power of two then is no number any more; NaN stays NaN. Unlike
/// the standard library's it has neither a branch nor a call, so that a loop over it becomes vector instructions.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) by its Taylor series, whose next term is below 6e-9; 2^n by its bits.
inline float exponential(float x) {
  constexpr float log2_e = 1.44269504F;
  constexpr float ln2_high = 0.693145751953125F;  // the leading 15 bits of ln 2, so that n times it is exact
  constexpr float ln2_low = 1.42860682e-6F;       // and the rest
  constexpr float to_integer = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer, which stands in the low bits
  constexpr float least = -87.3F;
  constexpr float greatest = 88.3F;
  const float shifted = x * log2_e + to_integer;
  const float n = shifted - to_integer;
  const float r = (x - n * ln2_high) - n * ln2_low;
  float series = 1.0F / 5040;
  series = series * r + 1.0F / 720;
  series = series * r + 1.0F / 120;
  series = series * r + 1.0F / 24;
  series = series * r + 1.0F / 6;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  series = series * r + 1.0F;
  const auto exponent = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(to_integer);
  const float power = std::bit_cast<float>((exponent + 127U) << 23U);
  const float result = series * power;
  const float no_less = x < least ? 0.0F : result;
  return x > greatest ? std::numeric_limits<float>::infinity() : no_less;
}

}  // namespace qkv::ops
