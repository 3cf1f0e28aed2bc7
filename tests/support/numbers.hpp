#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace qkv::test {

/// Deterministic numbers between -1 and 1, the same on every machine.
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : engine_(seed) {}

  [[nodiscard]] float next() { return static_cast<float>(static_cast<double>(engine_()) / 2147483648.0 - 1.0); }
  [[nodiscard]] std::uint32_t bits() { return static_cast<std::uint32_t>(engine_()); }

  [[nodiscard]] std::vector<float> many(std::size_t count, float scale = 1.0F) {
    std::vector<float> numbers(count);
    for (auto& number : numbers) number = scale * next();
    return numbers;
  }

 private:
  std::mt19937 engine_;  // its output is fixed by the standard
};

}  // namespace qkv::test
