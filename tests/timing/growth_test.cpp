#include "qkv/timing/growth.hpp"

#include <vector>

#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("a cost that is fixed, linear and square is found again", "[timing]") {
  std::vector<LengthCost> costs;
  for (const std::int64_t n : {1, 4, 16, 64, 256, 1024}) {
    const auto length = static_cast<double>(n);
    costs.push_back({n, 2e-2 + 1e-3 * length + 3e-7 * length * length});
  }
  const auto growth = fit_growth(costs);
  CHECK(growth.fixed == Approx(2e-2).epsilon(1e-6));
  CHECK(growth.per_token == Approx(1e-3).epsilon(1e-6));
  CHECK(growth.per_square == Approx(3e-7).epsilon(1e-4));
  CHECK(growth.largest_deviation < 1e-6);
}

TEST_CASE("no term of a fit is negative, whatever was measured", "[timing]") {
  const auto growth = fit_growth(std::vector<LengthCost>{{1, 1e-3}, {10, 0.9e-3}, {100, 1.1e-3}, {1000, 0.2}});
  CHECK(growth.fixed >= 0.0);
  CHECK(growth.per_token >= 0.0);
  CHECK(growth.per_square >= 0.0);
  CHECK(growth.seconds_at(1000.0) > 0.05);
  const auto falling = fit_growth(std::vector<LengthCost>{{1, 3.0}, {2, 2.0}, {3, 1.0}});
  CHECK(falling.per_token == 0.0);
  CHECK(falling.fixed > 1.0);
}

TEST_CASE("two lengths determine two terms, one length a constant", "[timing]") {
  const auto line = fit_growth(std::vector<LengthCost>{{1, 2.0}, {11, 3.0}});
  CHECK(line.largest_deviation < 1e-9);
  CHECK(line.seconds_at(6.0) == Approx(2.5).epsilon(0.05));
  CHECK(fit_growth(std::vector<LengthCost>{{7, 2.0}}).seconds_at(7.0) == Approx(2.0));
}

TEST_CASE("a generation costs the sum of its steps, on straight lines between measured lengths", "[timing]") {
  const std::vector<LengthCost> costs{{1, 1.0}, {3, 3.0}, {4, 10.0}};
  CHECK(generation_seconds(costs, 4) == Approx(1.0 + 2.0 + 3.0 + 10.0));
  CHECK(generation_seconds(costs, 5) == Approx(26.0));
  CHECK(generation_seconds(std::vector<LengthCost>{{8, 2.0}}, 3) == Approx(6.0));
}

}  // namespace qkv::test
