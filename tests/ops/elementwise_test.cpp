#include "qkv/ops/elementwise.hpp"

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

}  // namespace qkv::test
