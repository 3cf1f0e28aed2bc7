#pragma once

#include <cstdint>

namespace qkv {

/// PCG-XSH-RR 64/32, O'Neill 2014: the same numbers for one seed on every machine, which the standard library's
/// distributions do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  [[nodiscard]] std::uint32_t bits();
  /// 0 <= u < 1, with 53 random bits.
  [[nodiscard]] double uniform();

 private:
  std::uint64_t state_;
};

}  // namespace qkv
