#include "qkv/ops/exponential.hpp"

#include <cmath>

#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("the exponential is within 2e-7 of that in double precision, wherever it is a normal number", "[ops]") {
  double largest = 0.0;
  for (std::int64_t step = -8730000; step <= 8830000; step += 7) {
    const auto x = static_cast<float>(step) * 1e-5F;
    const auto expected = std::exp(static_cast<double>(x));
    largest = std::max(largest, std::abs(static_cast<double>(ops::exponential(x)) / expected - 1.0));
  }
  CHECK(largest < 2e-7);
}

TEST_CASE("the exponential of what is too small, too large or no number", "[ops]") {
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  CHECK(ops::exponential(0.0F) == 1.0F);
  for (const auto x : {-87.4F, -1e3F, -1e30F, -infinity}) CHECK(ops::exponential(x) == 0.0F);
  CHECK(ops::exponential(88.2F) == Approx(std::exp(static_cast<double>(88.2F))).epsilon(2e-7));
  for (const auto x : {88.35F, 88.8F, 1e3F, 1e30F, infinity}) CHECK(ops::exponential(x) == infinity);
  CHECK(std::isnan(ops::exponential(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace qkv::test
