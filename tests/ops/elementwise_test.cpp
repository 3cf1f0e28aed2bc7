#include "qkv/ops/elementwise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "qkv/ops/backends/blas.hpp"
#include "qkv/ops/parallel.hpp"
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

TEST_CASE("soft_cap is within 2e-7 of the cap of that in double precision", "[ops]") {
  constexpr std::int64_t count = 400001;
  GuardedMatrix x(1, count);
  for (const auto cap : {1.0F, 30.0F, 50.0F}) {
    const auto number = [&](std::int64_t i) { return cap * static_cast<float>(i - count / 2) * 5e-5F; };  // to 10 caps
    for (std::int64_t i = 0; i < count; ++i) x.at(0, i) = number(i);
    ops::soft_cap(cap, x.view());
    double largest = 0.0;
    double relative = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto expected = static_cast<double>(cap) * std::tanh(static_cast<double>(number(i) / cap));
      const auto off = std::abs(static_cast<double>(x.at(0, i)) - expected);
      largest = std::max(largest, off / static_cast<double>(cap));
      if (expected != 0.0) relative = std::max(relative, off / std::abs(expected));
    }
    CAPTURE(cap);
    CHECK(largest < 2e-7);
    CHECK(relative < 5e-7);  // small numbers pass as they are
  }
}

TEST_CASE("soft_cap of what is infinite, tiny or no number", "[ops]") {
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  GuardedMatrix x(1, 7);
  const std::vector<float> numbers{infinity, -infinity, 1e30F, 0.0F, 1e-30F, -1e-30F, std::nanf("")};
  for (std::size_t i = 0; i < numbers.size(); ++i) x.at(0, static_cast<std::int64_t>(i)) = numbers[i];
  ops::soft_cap(30.0F, x.view());
  CHECK(x.at(0, 0) == 30.0F);
  CHECK(x.at(0, 1) == -30.0F);
  CHECK(x.at(0, 2) == 30.0F);
  CHECK(x.at(0, 3) == 0.0F);
  CHECK(x.at(0, 4) == Approx(1e-30F).epsilon(1e-6));
  CHECK(x.at(0, 5) == Approx(-1e-30F).epsilon(1e-6));
  CHECK(std::isnan(x.at(0, 6)));
}

TEST_CASE("scale, soft_cap and clip give the same bits with any number of threads, long rows and many", "[ops]") {
  const auto before = ops::worker_count();
  for (const auto& [rows, cols] : {std::pair{1, 100003}, std::pair{2, 50021}, std::pair{701, 97}}) {
    const auto changed = [rows = rows, cols = cols](int threads) {
      ops::blas::set_threads(threads);
      Numbers numbers(13);
      std::vector<std::uint32_t> bits;
      for (int which = 0; which < 3; ++which) {
        GuardedMatrix y(rows, cols, 2);
        y.fill(numbers, 100.0F);
        if (which == 0) ops::scale(0.3F, y.view());
        if (which == 1) ops::soft_cap(30.0F, y.view());
        if (which == 2) ops::clip(30.0F, y.view());
        for (std::int64_t r = 0; r < rows; ++r)
          for (const auto number : y.view().row(r)) bits.push_back(std::bit_cast<std::uint32_t>(number));
        CHECK(y.guards_intact());
      }
      return bits;
    };
    const auto one = changed(1);
    CAPTURE(rows, cols);
    for (const int threads : {2, 3}) CHECK(changed(threads) == one);
  }
  ops::blas::set_threads(before);
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
