// Products against plain double-precision loops, on windows whose surroundings must not be touched.

#include "qkv/ops/matmul.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {
namespace {

struct Product {
  std::int64_t rows;
  std::int64_t inner;
  std::int64_t cols;
};

constexpr std::array products{Product{1, 1, 1},    Product{1, 7, 5},    Product{1, 64, 33}, Product{3, 1, 4},
                              Product{5, 17, 1},   Product{16, 16, 16}, Product{7, 9, 31},  Product{2, 100, 3},
                              Product{33, 13, 19}, Product{129, 40, 65}};

/// The largest difference between c and scale * a op(b) + bias.
double difference(const Product& p, GuardedMatrix& a, GuardedMatrix& b, bool transposed, double scale,
                  const std::vector<float>& bias, GuardedMatrix& c) {
  double largest = 0.0;
  for (std::int64_t r = 0; r < p.rows; ++r)
    for (std::int64_t col = 0; col < p.cols; ++col) {
      double sum = bias.empty() ? 0.0 : static_cast<double>(bias[static_cast<std::size_t>(col)]);
      for (std::int64_t i = 0; i < p.inner; ++i)
        sum += scale * static_cast<double>(a.at(r, i)) * static_cast<double>(transposed ? b.at(col, i) : b.at(i, col));
      const auto off = std::abs(static_cast<double>(c.at(r, col)) - sum);
      largest = std::isfinite(off) ? std::max(largest, off) : std::numeric_limits<double>::infinity();
    }
  return largest;
}

void check_matmul(const Product& p, Numbers& numbers, double tolerance) {
  CAPTURE(p.rows, p.inner, p.cols);
  GuardedMatrix a(p.rows, p.inner, 3);
  GuardedMatrix b(p.inner, p.cols, 5);
  GuardedMatrix c(p.rows, p.cols, 2);  // holds NaN before: with a plain product it is not read
  ops::matmul(a.fill(numbers).view(), b.fill(numbers).view(), c.view());
  CHECK(difference(p, a, b, false, 1.0, {}, c) < tolerance);
  CHECK((a.guards_intact() && b.guards_intact() && c.guards_intact()));
}

}  // namespace

TEST_CASE("matmul equals the naive product and stays inside its windows", "[ops]") {
  Numbers numbers(1);
  for (const auto& p : products) check_matmul(p, numbers, 1e-5);
  // Just below and just above what BLAS does in place; longer sums are off by more.
  for (const Product& p : {Product{32, 64, 488}, Product{32, 64, 489}, Product{32, 488, 64}, Product{32, 489, 64}})
    check_matmul(p, numbers, 5e-5);
}

TEST_CASE("matmul_transposed equals the naive product, scaled, and stays inside its windows", "[ops]") {
  Numbers numbers(2);
  for (const auto& p : products) {
    CAPTURE(p.rows, p.inner, p.cols);
    GuardedMatrix a(p.rows, p.inner, 2);
    GuardedMatrix b(p.cols, p.inner, 1);
    GuardedMatrix c(p.rows, p.cols, 4);
    ops::matmul_transposed(a.fill(numbers).view(), b.fill(numbers).view(), 0.37F, c.view());
    CHECK(difference(p, a, b, true, static_cast<double>(0.37F), {}, c) < 1e-5);
    CHECK((a.guards_intact() && b.guards_intact() && c.guards_intact()));
  }
}

TEST_CASE("a product may be scaled, and added to what is there", "[ops]") {
  Numbers numbers(3);
  for (const auto& p : products) {
    CAPTURE(p.rows, p.inner, p.cols);
    GuardedMatrix a(p.rows, p.inner, 3);
    GuardedMatrix b(p.inner, p.cols, 5);
    GuardedMatrix c(p.rows, p.cols, 2);
    ops::matmul(a.fill(numbers).view(), b.fill(numbers).view(), c.view(), 0.37F);
    CHECK(difference(p, a, b, false, static_cast<double>(0.37F), {}, c) < 1e-5);
    const std::vector<float> before(static_cast<std::size_t>(p.cols), 0.25F);
    for (std::int64_t r = 0; r < p.rows; ++r) std::copy(before.begin(), before.end(), c.view().row(r).begin());
    ops::add_matmul(a.view(), b.view(), c.view());
    CHECK(difference(p, a, b, false, 1.0, before, c) < 1e-5);
    CHECK((a.guards_intact() && b.guards_intact() && c.guards_intact()));
  }
}

TEST_CASE("transpose swaps rows and columns and stays inside its windows", "[ops]") {
  Numbers numbers(5);
  for (const auto& p : products) {
    CAPTURE(p.rows, p.cols);
    GuardedMatrix a(p.rows, p.cols, 3);
    GuardedMatrix out(p.cols, p.rows, 2);
    ops::transpose(a.fill(numbers).view(), out.view());
    bool same = true;
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t col = 0; col < p.cols; ++col) same = same && out.at(col, r) == a.at(r, col);
    CHECK(same);
    CHECK((a.guards_intact() && out.guards_intact()));
  }
}

}  // namespace qkv::test
