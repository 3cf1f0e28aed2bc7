#include "qkv/generate/random.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "support/catch.hpp"

namespace qkv::test {
namespace {

// The expected numbers come from the published description of PCG-XSH-RR 64/32, written down once more in Python:
//
//   M, inc, mult = (1 << 64) - 1, 1442695040888963407, 6364136223846793005
//   def pcg(seed, n):
//       state = ((inc + seed) * mult + inc) & M      # from 0: one step, the seed added, one step
//       for _ in range(n):
//           old, state = state, (state * mult + inc) & M
//           x, r = (((old >> 18) ^ old) >> 27) & 0xffffffff, old >> 59
//           yield ((x >> r) | (x << (-r & 31))) & 0xffffffff
template <std::size_t Count>
std::array<std::uint32_t, Count> first_of(std::uint64_t seed) {
  Random random(seed);
  std::array<std::uint32_t, Count> numbers{};
  for (auto& number : numbers) number = random.bits();
  return numbers;
}

}  // namespace

TEST_CASE("the generator is the published one, on every machine", "[generate]") {
  CHECK(first_of<6>(42) ==
        std::array<std::uint32_t, 6>{0xC2F57BD6U, 0x6B07C4A9U, 0x72B7B29BU, 0x44215383U, 0xF5AF5EADU, 0x68BEB632U});
  CHECK(first_of<3>(0) == std::array<std::uint32_t, 3>{0xE823A24EU, 0x7A7ECBD9U, 0x89FD6C06U});
  CHECK(first_of<3>(std::numeric_limits<std::uint64_t>::max()) ==
        std::array<std::uint32_t, 3>{0xD9313036U, 0xCD4B6992U, 0x7B8EC69EU});
}

TEST_CASE("uniform numbers are made of 53 bits of two draws", "[generate]") {
  Random random(42);
  CHECK(random.uniform() == 0.7615582825100964);
  CHECK(random.uniform() == 0.4481154998103791);
}

TEST_CASE("uniform numbers fill 0 to 1 evenly and never reach 1", "[generate]") {
  Random random(7);
  std::array<int, 10> counts{};
  double sum = 0.0;
  constexpr int draws = 20'000;
  for (int i = 0; i < draws; ++i) {
    const auto u = random.uniform();
    REQUIRE(u >= 0.0);
    REQUIRE(u < 1.0);
    sum += u;
    ++counts[static_cast<std::size_t>(u * 10.0)];
  }
  CHECK(std::abs(sum / draws - 0.5) < 0.01);
  for (const auto count : counts) CHECK(std::abs(count - draws / 10) < 5 * std::sqrt(draws / 10.0));
}

}  // namespace qkv::test
