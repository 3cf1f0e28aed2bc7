#pragma once

#include <cstdint>
#include <optional>

namespace qkv {

/// Counts and sizes that come from files are 64-bit and checked: a product that does not fit is no number.

[[nodiscard]] inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

}  // namespace qkv
