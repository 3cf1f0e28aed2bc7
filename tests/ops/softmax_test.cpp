#include "qkv/ops/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/guarded_matrix.hpp"

namespace qkv::test {
namespace {

constexpr auto nan = std::numeric_limits<float>::quiet_NaN();

std::int64_t visible_in(std::int64_t row, std::int64_t past, std::int64_t cols) {
  return std::min(past + row + 1, cols);
}

/// The first key that a row sees: of those up to its own place, the last `window` (all of them where that is 0).
std::int64_t first_visible_in(std::int64_t row, std::int64_t past, std::int64_t window) {
  return window == 0 ? 0 : std::max<std::int64_t>(0, past + row - window + 1);
}

/// Compares with a softmax in double precision; masked cells must be exactly 0 and rows sum to one.
void check_weights(const std::vector<std::vector<double>>& scores, std::int64_t past, std::int64_t window,
                   GuardedMatrix& weights) {
  const auto cols = weights.view().cols;
  for (std::int64_t r = 0; r < weights.view().rows; ++r) {
    const auto seen = visible_in(r, past, cols);
    const auto first = first_visible_in(r, past, window);
    const auto& row = scores[static_cast<std::size_t>(r)];
    const auto largest = *std::max_element(row.begin() + first, row.begin() + seen);
    double sum = 0.0;
    for (std::int64_t c = first; c < seen; ++c) sum += std::exp(row[static_cast<std::size_t>(c)] - largest);
    double total = 0.0;
    double off = 0.0;
    for (std::int64_t c = 0; c < cols; ++c) {
      const auto weight = static_cast<double>(weights.at(r, c));
      if (c < first || c >= seen)
        REQUIRE(weight == 0.0);
      else
        off = std::max(off, std::abs(weight - std::exp(row[static_cast<std::size_t>(c)] - largest) / sum));
      total += weight;
    }
    CAPTURE(r, seen);
    CHECK(off < 1e-6);
    CHECK(std::abs(total - 1.0) < 1e-6);
  }
}

void check_table(std::int64_t rows, std::int64_t cols, std::int64_t past, float scale, std::int64_t window = 0) {
  CAPTURE(rows, cols, past, scale, window);
  Numbers numbers(5);
  GuardedMatrix table(rows, cols, 3);
  table.fill(numbers, scale);
  std::vector<std::vector<double>> scores;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = table.view().row(r);
    scores.emplace_back(row.begin(), row.end());
    for (auto c = visible_in(r, past, cols); c < cols; ++c) table.at(r, c) = nan;  // must have no influence
    for (std::int64_t c = 0; c < first_visible_in(r, past, window); ++c) table.at(r, c) = nan;
  }
  ops::causal_softmax(table.view(), past, window);
  check_weights(scores, past, window, table);
  CHECK(table.guards_intact());
}

}  // namespace

TEST_CASE("causal_softmax equals softmax in double precision over what a row may see", "[ops]") {
  for (const auto scale : {1e-3F, 1.0F, 10.0F, 1e30F}) {
    check_table(1, 1, 0, scale);
    check_table(7, 7, 0, scale);
    check_table(1, 33, 32, scale);
    check_table(5, 21, 16, scale);
    check_table(5, 30, 16, scale);  // a table wider than anybody may see
    check_table(4, 3, 2, scale);    // narrower than the last rows could see
    check_table(64, 64, 0, scale);
  }
}

TEST_CASE("with a window a row sees its own key and those right before it", "[ops]") {
  for (const std::int64_t window : {1, 2, 3, 7, 21, 64})
    for (const auto scale : {1.0F, 1e30F}) {
      check_table(1, 1, 0, scale, window);
      check_table(7, 7, 0, scale, window);
      check_table(1, 33, 32, scale, window);
      check_table(5, 21, 16, scale, window);
      check_table(5, 30, 16, scale, window);
      check_table(64, 64, 0, scale, window);
    }
}

TEST_CASE("long rows of weights still sum to one", "[ops]") {
  check_table(2, 4096, 4094, 3.0F);
  check_table(2, 20000, 19998, 0.1F);
}

TEST_CASE("causal_softmax keeps apart what the largest and smallest scores are", "[ops]") {
  GuardedMatrix table(2, 4);
  const std::vector<std::vector<double>> scores{{1e30, -1e30, 1e30, 0.0}, {-1e30, -1e30, -1e30, -1e30}};
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t c = 0; c < 4; ++c)
      table.at(r, c) = static_cast<float>(scores[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
  ops::causal_softmax(table.view(), 3);
  CHECK(table.at(0, 0) == 0.5F);
  CHECK(table.at(0, 1) == 0.0F);
  CHECK(table.at(0, 2) == 0.5F);
  for (std::int64_t c = 0; c < 4; ++c) CHECK(table.at(1, c) == 0.25F);
}

TEST_CASE("an infinite score that is masked has no influence", "[ops]") {
  GuardedMatrix table(1, 3);
  table.at(0, 0) = 0.0F;
  table.at(0, 1) = 0.0F;
  table.at(0, 2) = std::numeric_limits<float>::infinity();
  ops::causal_softmax(table.view(), 1);
  CHECK(table.at(0, 0) == 0.5F);
  CHECK(table.at(0, 1) == 0.5F);
  CHECK(table.at(0, 2) == 0.0F);
}

}  // namespace qkv::test
