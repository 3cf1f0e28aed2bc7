// ALiBi against its formula in double precision, and against the slopes of the paper.

#include "qkv/ops/alibi.hpp"

#include <cmath>
#include <vector>

#include "qkv/model/config.hpp"
#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {
namespace {

/// The nearest number of 8 significant bits, ties to even.
double nearest_bf16(double number) {
  if (number == 0.0) return 0.0;
  const auto unit = std::exp2(std::floor(std::log2(std::abs(number))) - 7.0);
  return std::nearbyint(number / unit) * unit;
}

double bias_of(double slope, std::int64_t query, std::int64_t key, bool rounded) {
  if (!rounded) return -slope * static_cast<double>(query - key);
  return nearest_bf16(nearest_bf16(slope) * nearest_bf16(static_cast<double>(key)));
}

/// Rows of queries from `first` on, seen keys up to the last of them.
void check_biases(std::int64_t rows, std::int64_t first, bool rounded, float factor) {
  CAPTURE(rows, first, rounded, factor);
  const std::vector<float> slopes{0.25F, 0.0883883F, 0.0625F};
  const ops::Alibi alibi(slopes, rounded, factor);
  for (std::size_t head = 0; head < slopes.size(); ++head) {
    GuardedMatrix scores(rows, first + rows, 2);
    Numbers numbers(3);
    scores.fill(numbers);
    auto before = scores;
    alibi.add(static_cast<std::int64_t>(head), first, scores.view());
    double off = 0.0;
    for (std::int64_t t = 0; t < rows; ++t)
      for (std::int64_t key = 0; key < first + rows; ++key) {
        const auto bias = bias_of(static_cast<double>(slopes[head]), first + t, key, rounded);
        const auto expected = static_cast<double>(before.at(t, key)) + static_cast<double>(factor) * bias;
        off = std::max(off, std::abs(static_cast<double>(scores.at(t, key)) - expected) / (1.0 + std::abs(expected)));
      }
    CHECK(off < 1e-6);
    CHECK(scores.guards_intact());
  }
}

}  // namespace

TEST_CASE("alibi adds slope times distance to each score, wherever the rows stand", "[ops]") {
  for (const auto factor : {1.0F, 0.35F}) {
    check_biases(1, 0, false, factor);
    check_biases(7, 0, false, factor);
    check_biases(1, 32, false, factor);
    check_biases(5, 700, false, factor);
  }
}

TEST_CASE("alibi rounds slopes, keys and products to bf16 where it is told to", "[ops]") {
  check_biases(7, 0, true, 1.0F);
  check_biases(3, 1000, true, 0.35F);  // keys above 256 have no bf16 of their own
}

TEST_CASE("alibi's slopes are those of the paper, for any number of heads", "[ops]") {
  const auto check = [](std::int64_t n_heads, double largest, const std::vector<double>& exponents) {
    const auto slopes = alibi_slopes({.largest_exponent = largest}, n_heads);
    REQUIRE(slopes.size() == exponents.size());
    for (std::size_t i = 0; i < slopes.size(); ++i)
      CHECK(static_cast<double>(slopes[i]) == Approx(std::exp2(-exponents[i])).epsilon(1e-6));
  };
  check(1, 8.0, {8.0});
  check(4, 8.0, {2.0, 4.0, 6.0, 8.0});
  check(8, 8.0, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0});
  check(3, 8.0, {4.0, 8.0, 2.0});
  check(6, 8.0, {2.0, 4.0, 6.0, 8.0, 1.0, 3.0});
  check(4, 16.0, {4.0, 8.0, 12.0, 16.0});
}

}  // namespace qkv::test
