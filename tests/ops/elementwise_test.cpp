#include "qkv/ops/elementwise.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {

TEST_CASE("add, multiply and scale change each number of their window and no other", "[ops]") {
  Numbers numbers(10);
  for (const auto rows : {1, 3})
    for (const auto cols : {1, 7, 16, 33}) {
      CAPTURE(rows, cols);
      GuardedMatrix x(rows, cols, 2);
      GuardedMatrix sum(rows, cols, 3);
      GuardedMatrix product(rows, cols, 4);
      GuardedMatrix scaled(rows, cols, 1);
      GuardedMatrix before(rows, cols);
      x.fill(numbers);
      before.fill(numbers);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) sum.at(r, c) = product.at(r, c) = scaled.at(r, c) = before.at(r, c);
      ops::add(x.view(), sum.view());
      ops::multiply(x.view(), product.view());
      ops::scale(-2.5F, scaled.view());
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
          REQUIRE(sum.at(r, c) == before.at(r, c) + x.at(r, c));
          REQUIRE(product.at(r, c) == before.at(r, c) * x.at(r, c));
          REQUIRE(scaled.at(r, c) == before.at(r, c) * -2.5F);
        }
      CHECK((x.guards_intact() && sum.guards_intact() && product.guards_intact() && scaled.guards_intact()));
    }
}

TEST_CASE("soft_cap and clip hold every number of their window within bounds and touch no other", "[ops]") {
  Numbers numbers(11);
  for (const auto cols : {1, 7, 33})
    for (const auto bound : {0.5F, 30.0F}) {
      CAPTURE(cols, bound);
      GuardedMatrix capped(3, cols, 2);
      GuardedMatrix clipped(3, cols, 3);
      GuardedMatrix before(3, cols);
      before.fill(numbers, 100.0F);
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t c = 0; c < cols; ++c) capped.at(r, c) = clipped.at(r, c) = before.at(r, c);
      ops::soft_cap(bound, capped.view());
      ops::clip(bound, clipped.view());
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
          const auto number = static_cast<double>(before.at(r, c));
          const auto cap = static_cast<double>(bound);
          REQUIRE(static_cast<double>(capped.at(r, c)) == Approx(cap * std::tanh(number / cap)).epsilon(1e-6));
          REQUIRE(clipped.at(r, c) == std::min(std::max(before.at(r, c), -bound), bound));
        }
      CHECK((capped.guards_intact() && clipped.guards_intact()));
    }
}

TEST_CASE("clear leaves zeros in its window and the rest alone", "[ops]") {
  Numbers numbers(12);
  GuardedMatrix x(3, 7, 2);
  ops::clear(x.fill(numbers).view());
  for (std::int64_t r = 0; r < 3; ++r)
    for (std::int64_t c = 0; c < 7; ++c) CHECK(x.at(r, c) == 0.0F);
  CHECK(x.guards_intact());
}

}  // namespace qkv::test
