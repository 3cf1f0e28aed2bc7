#include "qkv/ops/rounding.hpp"

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {

TEST_CASE("round_in_groups leaves multiples of each group's largest / 127, none further off than half of it", "[ops]") {
  Numbers numbers(12);
  for (const auto group : {1, 4, 8})
    for (const auto cols : {8, 12, 21}) {
      CAPTURE(group, cols);
      GuardedMatrix x(3, cols, 2);
      GuardedMatrix y(3, cols, 3);
      x.fill(numbers, 5.0F);
      ops::round_in_groups(x.view(), group, y.view());
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
          const auto first = c / group * group;
          if (first + group > cols) {
            REQUIRE(y.at(r, c) == x.at(r, c));
            continue;
          }
          double largest = 0.0;
          for (auto i = first; i < first + group; ++i) largest = std::max(largest, std::abs(double{x.at(r, i)}));
          const auto steps = y.at(r, c) / (largest / 127.0);
          REQUIRE(steps == Approx(std::round(steps)).margin(1e-4));
          REQUIRE(std::abs(double{y.at(r, c)} - x.at(r, c)) <= largest / 127.0 * 0.5001);
        }
      CHECK((x.guards_intact() && y.guards_intact()));
    }
}

TEST_CASE("round_in_groups keeps groups of zeros, and rounds halves away from zero", "[ops]") {
  GuardedMatrix x(1, 8);
  GuardedMatrix y(1, 8);
  for (std::int64_t i = 0; i < 8; ++i) x.at(0, i) = 0.0F;
  x.at(0, 4) = 127.0F;
  x.at(0, 5) = 2.5F;
  x.at(0, 6) = -2.5F;
  ops::round_in_groups(x.view(), 4, y.view());
  for (std::int64_t i = 0; i < 4; ++i) CHECK(y.at(0, i) == 0.0F);
  CHECK(y.at(0, 4) == 127.0F);
  CHECK(y.at(0, 5) == 3.0F);
  CHECK(y.at(0, 6) == -3.0F);
}

}  // namespace qkv::test
