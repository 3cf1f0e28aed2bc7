// Norms against their formulas in double precision.

#include "qkv/ops/norm.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {
namespace {

using NormFunction = void (*)(ConstMatrixView, std::span<const float>, std::span<const float>, float, MatrixView);

/// The largest difference between y and the formula, over all numbers. An empty gain is 1 everywhere.
double difference(GuardedMatrix& x, const std::vector<float>& gain, const std::vector<float>& bias, double epsilon,
                  bool centred, GuardedMatrix& y) {
  double largest = 0.0;
  for (std::int64_t r = 0; r < x.view().rows; ++r) {
    const auto row = x.view().row(r);
    const auto width = static_cast<double>(row.size());
    double mean = 0.0;
    for (const auto number : row) mean += centred ? static_cast<double>(number) / width : 0.0;
    double square = 0.0;
    for (const auto number : row) square += std::pow(static_cast<double>(number) - mean, 2.0) / width;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto expected = (static_cast<double>(row[i]) - mean) / std::sqrt(square + epsilon) *
                                (gain.empty() ? 1.0 : static_cast<double>(gain[i])) +
                            (bias.empty() ? 0.0 : static_cast<double>(bias[i]));
      const auto off = std::abs(static_cast<double>(y.at(r, static_cast<std::int64_t>(i))) - expected);
      largest = std::isfinite(off) ? std::max(largest, off) : HUGE_VAL;
    }
  }
  return largest;
}

void check_norm(NormFunction function, bool centred) {
  Numbers numbers(4);
  for (const auto rows : {1, 3})
    for (const auto cols : {1, 2, 7, 16, 33, 768})
      for (const auto scale : {1e-3F, 1.0F, 1e15F})
        for (const bool with_bias : {false, true}) {
          CAPTURE(rows, cols, scale, with_bias);
          GuardedMatrix x(rows, cols, 3);
          GuardedMatrix y(rows, cols, 1);
          const auto gain = numbers.many(static_cast<std::size_t>(cols));
          const auto bias = with_bias ? numbers.many(static_cast<std::size_t>(cols)) : std::vector<float>();
          constexpr float epsilon = 1e-5F;
          function(x.fill(numbers, scale).view(), gain, bias, epsilon, y.view());
          CHECK(difference(x, gain, bias, static_cast<double>(epsilon), centred, y) < 1e-5);
          CHECK((x.guards_intact() && y.guards_intact()));
        }
}

}  // namespace

TEST_CASE("layer_norm equals its formula, whatever the width and the size of the numbers", "[ops]") {
  check_norm(ops::layer_norm, true);
}

TEST_CASE("rms_norm equals its formula, whatever the width and the size of the numbers", "[ops]") {
  check_norm(ops::rms_norm, false);
}

TEST_CASE("norms without a gain are their formula with gain 1, with and without a bias", "[ops]") {
  Numbers numbers(6);
  for (const auto cols : {1, 7, 33, 768})
    for (const bool centred : {false, true})
      for (const auto& [in_place, with_bias] :
           {std::pair{false, false}, std::pair{false, true}, std::pair{true, false}, std::pair{true, true}}) {
        CAPTURE(cols, centred, in_place, with_bias);
        const auto bias = with_bias ? numbers.many(static_cast<std::size_t>(cols)) : std::vector<float>();
        GuardedMatrix x(3, cols, 2);
        GuardedMatrix y(3, cols, 1);
        x.fill(numbers, 3.0F);
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t c = 0; c < cols; ++c) y.at(r, c) = x.at(r, c);
        const auto function = centred ? ops::layer_norm : ops::rms_norm;
        function(in_place ? y.view() : x.view(), {}, bias, 1e-5F, y.view());
        CHECK(difference(x, {}, bias, 1e-5, centred, y) < 1e-5);
        CHECK((x.guards_intact() && y.guards_intact()));
      }
}

TEST_CASE("layer_norm of a constant row is the bias, of a far-off row the same as near zero", "[ops]") {
  GuardedMatrix x(2, 16);
  GuardedMatrix y(2, 16);
  for (std::int64_t i = 0; i < 16; ++i) {
    x.at(0, i) = 4.0F;
    x.at(1, i) = 4096.0F + static_cast<float>(i);
  }
  const std::vector<float> gain(16, 2.0F);
  const std::vector<float> bias(16, 0.25F);
  ops::layer_norm(x.view(), gain, bias, 1e-5F, y.view());
  for (std::int64_t i = 0; i < 16; ++i) CHECK(y.at(0, i) == 0.25F);
  CHECK(difference(x, gain, bias, 1e-5, true, y) < 1e-5);
}

TEST_CASE("rms_norm of a row of zeros is the bias, of a constant row the gain", "[ops]") {
  GuardedMatrix x(2, 9);
  GuardedMatrix y(2, 9);
  for (std::int64_t i = 0; i < 9; ++i) {
    x.at(0, i) = 0.0F;
    x.at(1, i) = -3.0F;
  }
  const std::vector<float> gain(9, 2.0F);
  ops::rms_norm(x.view(), gain, {}, 1e-6F, y.view());
  for (std::int64_t i = 0; i < 9; ++i) {
    CHECK(y.at(0, i) == 0.0F);
    CHECK(y.at(1, i) == Approx(-2.0));
  }
}

TEST_CASE("epsilon counts", "[ops]") {
  for (const auto function : {ops::layer_norm, ops::rms_norm}) {
    GuardedMatrix x(1, 2);
    GuardedMatrix y(1, 2);
    x.at(0, 0) = 1.0F;
    x.at(0, 1) = -1.0F;  // mean 0, mean square 1
    function(x.view(), std::vector<float>{1.0F, 1.0F}, {}, 3.0F, y.view());
    CHECK(y.at(0, 0) == Approx(0.5));
    CHECK(y.at(0, 1) == Approx(-0.5));
  }
}

}  // namespace qkv::test
