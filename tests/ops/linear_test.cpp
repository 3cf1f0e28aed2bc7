// Every backend and precision against the naive map in double precision, on windows whose surroundings must not be
// touched.

#include "qkv/ops/linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "qkv/ops/backends/blas.hpp"
#include "qkv/tensor/dtype.hpp"
#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {
namespace {

using ops::Layout;
using ops::Precision;

struct Way {
  const ops::LinearBackend* backend;
  Precision precision;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const auto& backend : ops::linear_backends())
    for (const auto precision : backend.precisions) all.push_back({&backend, precision});
  return all;
}

std::string named(const Way& way) {
  return std::string(way.backend->name) + " " + std::string(ops::name_of(way.precision));
}

double rounded(double number, Precision precision) {
  if (precision == Precision::f32) return number;
  const auto from = static_cast<float>(number);
  std::uint16_t bits = 0;
  round_to_bf16(&from, 1, &bits);
  return static_cast<double>(widen_bf16(bits));
}

/// Inputs, a learned matrix and a bias, and for each output what it should be and how far off it may be.
struct Example {
  std::int64_t rows, in, out;
  Layout layout;
  GuardedMatrix x, W;
  std::vector<float> bias;
  std::vector<double> exact, size;  // [rows, out]: the sum, and the sum of the absolute values of what is summed up

  Example(std::int64_t rows_, std::int64_t in_, std::int64_t out_, Layout layout_, bool with_bias)
      : rows(rows_),
        in(in_),
        out(out_),
        layout(layout_),
        x(rows, in, 3),
        W(layout == Layout::out_in ? out : in, layout == Layout::out_in ? in : out, 2) {
    Numbers numbers(static_cast<std::uint32_t>(rows + in + out));
    x.fill(numbers);
    W.fill(numbers);
    if (with_bias) bias = numbers.many(static_cast<std::size_t>(out));
  }

  double weight(std::int64_t o, std::int64_t i) {
    return static_cast<double>(layout == Layout::out_in ? W.at(o, i) : W.at(i, o));
  }

  /// With the factors rounded to `precision`.
  Example& expect(Precision precision) {
    exact.clear();
    size.clear();
    std::vector<double> x_t(static_cast<std::size_t>(in));
    std::vector<double> weights(static_cast<std::size_t>(out * in));
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t i = 0; i < in; ++i)
        weights[static_cast<std::size_t>(o * in + i)] = rounded(weight(o, i), precision);
    for (std::int64_t t = 0; t < rows; ++t) {
      for (std::int64_t i = 0; i < in; ++i)
        x_t[static_cast<std::size_t>(i)] = rounded(static_cast<double>(x.at(t, i)), precision);
      for (std::int64_t o = 0; o < out; ++o) {
        double sum = bias.empty() ? 0.0 : static_cast<double>(bias[static_cast<std::size_t>(o)]);
        double sizes = std::abs(sum);
        for (std::size_t i = 0; i < x_t.size(); ++i) {
          const auto product = x_t[i] * weights[static_cast<std::size_t>(o) * x_t.size() + i];
          sum += product;
          sizes += std::abs(product);
        }
        exact.push_back(sum);
        size.push_back(sizes);
      }
    }
    return *this;
  }

  [[nodiscard]] ops::Linear linear(const Way& way) {
    return {*way.backend, {W.view(), layout}, bias, {way.precision, 0}};
  }

  /// The largest difference of the first rows of y from what is expected, in units of the sum of absolute values.
  double difference(GuardedMatrix& y, std::int64_t first_rows) {
    double largest = 0.0;
    for (std::int64_t t = 0; t < first_rows; ++t)
      for (std::int64_t o = 0; o < out; ++o) {
        const auto at = static_cast<std::size_t>(t * out + o);
        const auto off = std::abs(static_cast<double>(y.at(t, o)) - exact[at]) / std::max(size[at], 1e-30);
        largest = std::isfinite(off) ? std::max(largest, off) : std::numeric_limits<double>::infinity();
      }
    return largest;
  }
};

/// n additions in f32, each with a relative rounding of at most 2^-24, and one for each product.
double f32_bound(std::int64_t in) { return static_cast<double>(in + 2) * 0x1p-24; }

/// bf16 keeps 8 bits of significand, so that rounding to nearest moves a factor by at most u = 2^-8 of itself, and a
/// product of two by at most (1 + u)^2 - 1 of itself: a sum by at most that share of the sum of absolute values. The
/// additions in f32 are of numbers at most (1 + u)^2 as large.
double bf16_bound(std::int64_t in) {
  constexpr double u = 0x1p-8;
  constexpr double factors = (1.0 + u) * (1.0 + u);
  return factors - 1.0 + factors * f32_bound(in);
}

void check_rows(Example& example, const ops::Linear& linear, std::int64_t rows, double bound) {
  CAPTURE(rows);
  GuardedMatrix y(rows, example.out, 5);
  linear.apply(example.x.view().rows_window(0, rows), y.view());
  CHECK(example.difference(y, rows) < bound);
  CHECK((example.x.guards_intact() && example.W.guards_intact() && y.guards_intact()));
}

/// Outputs of the first rows, without gaps.
std::vector<float> outputs(const ops::Linear& linear, ConstMatrixView x) {
  std::vector<float> numbers(static_cast<std::size_t>(x.rows * linear.out()), 0.0F);
  linear.apply(x, {numbers.data(), x.rows, linear.out()});
  return numbers;
}

}  // namespace

TEST_CASE("every backend equals the naive map, in both layouts, with and without bias, for any number of rows",
          "[ops]") {
  for (const auto& way : ways())
    for (const auto layout : {Layout::out_in, Layout::in_out})
      for (const bool with_bias : {false, true}) {
        INFO(named(way));
        CAPTURE(layout == Layout::out_in, with_bias);
        Example example(70, 37, 100, layout, with_bias);
        example.expect(way.precision);
        const auto linear = example.linear(way);
        CHECK(linear.in() == example.in);
        CHECK(linear.out() == example.out);
        for (std::int64_t rows = 1; rows <= example.rows; ++rows) check_rows(example, linear, rows, f32_bound(37));
      }
}

TEST_CASE("every backend equals the naive map for matrices of any shape", "[ops]") {
  struct Sizes {
    std::int64_t rows, in, out;
  };
  for (const auto& way : ways())
    for (const auto& [rows, in, out] :
         {Sizes{1, 1, 1}, Sizes{3, 1, 4}, Sizes{5, 17, 1}, Sizes{2, 100, 3}, Sizes{129, 40, 65}, Sizes{33, 13, 190},
          Sizes{65, 768, 576}, Sizes{20, 1601, 129}, Sizes{512, 64, 256}}) {
      INFO(named(way));
      CAPTURE(rows, in, out);
      Example example(rows, in, out, Layout::out_in, true);
      example.expect(way.precision);
      const auto linear = example.linear(way);
      check_rows(example, linear, 1, f32_bound(in));
      check_rows(example, linear, rows, f32_bound(in));
    }
}

TEST_CASE("columns of a matrix that holds several are multiplied by as they lie", "[ops]") {
  for (const auto& way : ways()) {
    INFO(named(way));
    Example whole(9, 48, 3 * 32, Layout::in_out, true);
    const auto all = outputs(whole.linear(way), whole.x.view());
    for (const std::int64_t first : {0, 32, 64}) {
      const std::span bias(whole.bias.data() + first, 32);
      const ops::Linear part(*way.backend, {whole.W.view().columns(first, 32), Layout::in_out}, bias,
                             {way.precision, 0});
      const auto found = outputs(part, whole.x.view());
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i] == Approx(all[i / 32 * 96 + static_cast<std::size_t>(first) + i % 32]).margin(1e-5));
    }
  }
}

TEST_CASE("rounding to bf16 moves an output by no more than rounding both factors can", "[ops]") {
  for (const auto& way : ways()) {
    if (way.precision != Precision::bf16) continue;
    INFO(named(way));
    Example example(20, 768, 200, Layout::out_in, true);
    example.expect(Precision::f32);
    const auto linear = example.linear(way);
    check_rows(example, linear, 1, bf16_bound(768));
    check_rows(example, linear, 20, bf16_bound(768));
  }
}

TEST_CASE("a packed matrix is not needed any more, and the next of its shape is packed for itself", "[ops]") {
  for (const auto& way : ways()) {
    if (!way.backend->packs) continue;
    INFO(named(way));
    Example first(7, 80, 70, Layout::in_out, false);
    Example second(8, 80, 70, Layout::in_out, false);
    first.expect(way.precision);
    const auto one = first.linear(way);
    const auto other = second.linear(way);
    for (std::int64_t r = 0; r < 80; ++r)
      for (auto& number : first.W.view().row(r)) number = 0.0F;
    check_rows(first, one, 7, f32_bound(80));
    check_rows(second.expect(way.precision), other, 8, f32_bound(80));
  }
}

TEST_CASE("the number of threads changes no bit", "[ops]") {
  for (const auto& way : ways()) {
    if (!way.backend->packs || !way.backend->is_fast(way.precision)) continue;  // BLAS does not promise it
    INFO(named(way));
    Example example(600, 640, 330, Layout::out_in, true);
    const auto linear = example.linear(way);
    for (const std::int64_t rows : {1, 2, 50, 129, 301, 512, 600}) {  // from 128 on two threads share the rows
      const auto x = example.x.view().rows_window(0, rows);
      ops::blas::set_threads(1);
      const auto alone = outputs(linear, x);
      for (const int threads : {2, 3}) {
        ops::blas::set_threads(threads);
        CHECK(outputs(linear, x) == alone);
      }
    }
  }
  ops::blas::set_threads(1);
}

TEST_CASE("with oneDNN 2 a row comes out alone as it does among others, to the bit", "[ops]") {
  for (const auto& way : ways()) {
    const bool is_oneDNN_2 = way.backend->library().rfind("oneDNN 2.", 0) == 0;
    if (!is_oneDNN_2 || !way.backend->is_fast(way.precision)) continue;  // found, not promised
    INFO(named(way));
    for (const std::int64_t in : {64, 500, 768, 1031, 3072}) {
      Example example(300, in, in == 768 ? 1111 : 200, Layout::out_in, true);
      const auto linear = example.linear(way);
      const auto all = outputs(linear, example.x.view());
      for (const std::int64_t rows : {1, 2, 3, 5, 16, 17, 64, 100, 256, 257, 299}) {
        CAPTURE(in, rows);
        const auto some = outputs(linear, example.x.view().rows_window(0, rows));
        CHECK(std::equal(some.begin(), some.end(), all.begin()));
      }
    }
  }
}

TEST_CASE("several threads may multiply by one matrix, each with its own number of rows", "[ops]") {
  for (const auto& way : ways()) {
    if (!way.backend->packs || !way.backend->is_fast(way.precision)) continue;
    INFO(named(way));
    Example example(60, 96, 128, Layout::out_in, true);
    const auto linear = example.linear(way);
    std::vector<int> wrong(4, 0);
    std::vector<std::vector<float>> expected;
    for (std::int64_t rows = 1; rows <= 60; ++rows)
      expected.push_back(outputs(linear, example.x.view().rows_window(0, rows)));
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < wrong.size(); ++n)
      threads.emplace_back([&, n] {
        for (std::size_t i = 0; i < 120; ++i) {
          const auto rows = static_cast<std::int64_t>((i * (n + 1)) % 60);
          const auto found = outputs(linear, example.x.view().rows_window(0, rows + 1));
          wrong[n] += found == expected[static_cast<std::size_t>(rows)] ? 0 : 1;
        }
      });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4, 0));
  }
}

}  // namespace qkv::test
