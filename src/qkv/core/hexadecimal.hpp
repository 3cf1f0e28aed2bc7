#pragma once

namespace qkv {

/// The value of a hexadecimal digit, or -1.
[[nodiscard]] constexpr int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace qkv
