#include "qkv/ops/error_function.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("1 + erf is within 2e-7 of that in double precision, and of itself where it is small", "[ops]") {
  double largest = 0.0;
  double largest_share = 0.0;
  for (std::int64_t step = -700000; step <= 700000; ++step) {
    const auto x = static_cast<float>(step) * 1e-5F;
    const auto expected = std::erfc(-static_cast<double>(x));
    const auto off = std::abs(static_cast<double>(ops::one_plus_erf(x)) - expected);
    largest = std::max(largest, off);
    if (x < 0.0F && x > -4.2F) largest_share = std::max(largest_share, off / expected);
  }
  CHECK(largest < 2e-7);
  CHECK(largest_share < 4e-6);
}

TEST_CASE("1 + erf of what is far out, or no number", "[ops]") {
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  CHECK(ops::one_plus_erf(0.0F) == 1.0F);
  for (const auto x : {4.2F, 1e3F, 1e30F, infinity}) {
    CHECK(ops::one_plus_erf(x) == 2.0F);
    CHECK(ops::one_plus_erf(-x) == 0.0F);
  }
  CHECK(std::isnan(ops::one_plus_erf(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace qkv::test
