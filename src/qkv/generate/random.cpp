#include "qkv/generate/random.hpp"

#include <bit>

namespace qkv {
namespace {

constexpr std::uint64_t multiplier = 6364136223846793005U;
constexpr std::uint64_t increment = 1442695040888963407U;

}  // namespace

Random::Random(std::uint64_t seed) : state_((seed + increment) * multiplier + increment) {}

std::uint32_t Random::bits() {
  const auto old = state_;
  state_ = old * multiplier + increment;
  const auto shifted = static_cast<std::uint32_t>(((old >> 18U) ^ old) >> 27U);
  return std::rotr(shifted, static_cast<int>(old >> 59U));
}

double Random::uniform() {
  const std::uint64_t high = bits() >> 5U;  // 27 bits
  const std::uint64_t low = bits() >> 6U;   // 26 bits
  return static_cast<double>(high << 26U | low) * 0x1p-53;
}

}  // namespace qkv
