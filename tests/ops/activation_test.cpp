#include "qkv/ops/activation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "qkv/model/choices.hpp"
#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"
#include "support/naive_model.hpp"

namespace qkv::test {
namespace {

constexpr ops::Activation all_activations[] = {ops::Activation::gelu_tanh, ops::Activation::gelu_erf,
                                               ops::Activation::silu, ops::Activation::relu};

float activated(ops::Activation activation, float x) {
  ops::activate(activation, {&x, 1, 1});
  return x;
}

}  // namespace

TEST_CASE("activations equal their formulas in double precision", "[ops]") {
  for (const auto activation : all_activations) {
    CAPTURE(name_of(activation));
    double largest = 0.0;
    for (int step = -4000; step <= 4000; ++step) {
      const auto x = static_cast<float>(step) * 0.005F;
      const auto expected = naive_activation(activation, static_cast<double>(x));
      const auto off = std::abs(static_cast<double>(activated(activation, x)) - expected);
      largest = std::max(largest, off / std::max(1.0, std::abs(expected)));
    }
    CHECK(largest < 1e-6);
  }
}

TEST_CASE("activations of huge numbers are the number, or nothing", "[ops]") {
  for (const auto activation : all_activations)
    for (const auto x : {30.0F, 1e4F, 1e13F, 1e30F, std::numeric_limits<float>::max()}) {
      CAPTURE(name_of(activation), x);
      CHECK(activated(activation, x) == x);
      CHECK(std::abs(activated(activation, -x)) < 1e-10F);
    }
}

TEST_CASE("activations let NaN through", "[ops]") {
  for (const auto activation : all_activations)
    CHECK(std::isnan(activated(activation, std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("the two GELUs are two", "[ops]") {
  float largest = 0.0F;
  for (float x = -4.0F; x < 4.0F; x += 0.125F)
    largest =
        std::max(largest, std::abs(activated(ops::Activation::gelu_tanh, x) - activated(ops::Activation::gelu_erf, x)));
  CHECK(largest > 3e-4F);
}

TEST_CASE("an activation changes its window and nothing else", "[ops]") {
  for (const auto activation : all_activations)
    for (const auto cols : {1, 7, 16, 35}) {
      Numbers numbers(6);
      GuardedMatrix x(3, cols);
      GuardedMatrix before(3, cols);
      x.fill(numbers, 3.0F);
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t c = 0; c < cols; ++c) before.at(r, c) = x.at(r, c);
      ops::activate(activation, x.view());
      CHECK(x.guards_intact());
      for (std::int64_t r = 0; r < 3; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
          REQUIRE(x.at(r, c) == Approx(static_cast<double>(activated(activation, before.at(r, c)))).margin(1e-6));
    }
}

}  // namespace qkv::test
