#include "qkv/ops/rotary.hpp"

#include <cmath>
#include <complex>

#include "qkv/ops/backends/blas.hpp"
#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {
namespace {

const std::vector<double> rates{1.0, 0.3, 0.01};  // six numbers of a head are turned

std::int64_t partner_a(ops::RotaryLayout layout, std::int64_t i) {
  return layout == ops::RotaryLayout::halves ? i : 2 * i;
}
std::int64_t partner_b(ops::RotaryLayout layout, std::int64_t i) {
  return layout == ops::RotaryLayout::halves ? i + static_cast<std::int64_t>(rates.size()) : 2 * i + 1;
}

/// Each pair as a complex number, multiplied by exp(i angle).
double difference(ops::RotaryLayout layout, GuardedMatrix& before, GuardedMatrix& after, std::int64_t head_dim,
                  std::int64_t first) {
  double largest = 0.0;
  for (std::int64_t t = 0; t < before.view().rows; ++t)
    for (std::int64_t head = 0; head < before.view().cols; head += head_dim)
      for (std::size_t i = 0; i < rates.size(); ++i) {
        const auto a = head + partner_a(layout, static_cast<std::int64_t>(i));
        const auto b = head + partner_b(layout, static_cast<std::int64_t>(i));
        const std::complex<double> point(static_cast<double>(before.at(t, a)), static_cast<double>(before.at(t, b)));
        const auto turned = point * std::polar(1.0, static_cast<double>(first + t) * rates[i]);
        largest = std::max(largest, std::abs(static_cast<double>(after.at(t, a)) - turned.real()));
        largest = std::max(largest, std::abs(static_cast<double>(after.at(t, b)) - turned.imag()));
      }
  return largest;
}

/// The numbers after the turned ones, in each head.
bool rest_unchanged(GuardedMatrix& before, GuardedMatrix& after, std::int64_t head_dim) {
  for (std::int64_t t = 0; t < before.view().rows; ++t)
    for (std::int64_t c = 0; c < before.view().cols; ++c)
      if (c % head_dim >= 2 * static_cast<std::int64_t>(rates.size()) && before.at(t, c) != after.at(t, c))
        return false;
  return true;
}

}  // namespace

TEST_CASE("rotary positions turn pairs like complex numbers and leave the rest", "[ops]") {
  for (const auto layout : {ops::RotaryLayout::halves, ops::RotaryLayout::pairs})
    for (const auto head_dim : {std::int64_t{6}, std::int64_t{9}})
      for (const auto heads : {std::int64_t{1}, std::int64_t{3}})
        for (const auto first : {std::int64_t{0}, std::int64_t{5}, std::int64_t{5000}}) {
          CAPTURE(static_cast<int>(layout), head_dim, heads, first);
          GuardedMatrix before(4, heads * head_dim);
          GuardedMatrix after(4, heads * head_dim);
          Numbers one(7);
          Numbers same(7);
          before.fill(one);
          after.fill(same);
          ops::RotaryTable table(rates, layout);
          table.extend(first + 4);
          table.rotate(after.view(), head_dim, first);
          CHECK(difference(layout, before, after, head_dim, first) < 1e-6);
          CHECK(rest_unchanged(before, after, head_dim));
          CHECK(after.guards_intact());
        }
}

TEST_CASE("rows that several threads turn come out as each row alone", "[ops]") {
  constexpr std::int64_t rows = 700;  // enough for more than one thread
  constexpr std::int64_t width = 8 * 9;
  ops::RotaryTable table(rates, ops::RotaryLayout::halves);
  table.extend(rows + 3);
  Numbers numbers(10);
  const auto before = numbers.many(rows * width);
  auto alone = before;
  for (std::int64_t t = 0; t < rows; ++t) table.rotate({alone.data() + t * width, 1, width}, 9, 3 + t);
  for (const int threads : {1, 2, 3}) {
    ops::blas::set_threads(threads);
    auto together = before;
    table.rotate({together.data(), rows, width}, 9, 3);
    CHECK(together == alone);
  }
  ops::blas::set_threads(1);
}

TEST_CASE("position 0 turns nothing", "[ops]") {
  Numbers numbers(8);
  auto x = numbers.many(6);
  const auto before = x;
  ops::RotaryTable table(rates, ops::RotaryLayout::halves);
  table.extend(1);
  table.rotate({x.data(), 1, 6}, 6, 0);
  CHECK(x == before);
}

TEST_CASE("a rotary table that grows is the table built at once", "[ops]") {
  ops::RotaryTable grown(rates, ops::RotaryLayout::pairs);
  for (const auto count : {1, 3, 2, 40, 40, 7}) grown.extend(count);
  ops::RotaryTable built(rates, ops::RotaryLayout::pairs);
  built.extend(40);
  Numbers numbers(9);
  auto x = numbers.many(40 * 6);
  auto y = x;
  grown.rotate({x.data(), 40, 6}, 6, 0);
  built.rotate({y.data(), 40, 6}, 6, 0);
  CHECK(x == y);
}

}  // namespace qkv::test
