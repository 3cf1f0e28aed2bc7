#include "qkv/timing/growth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace qkv {
namespace {

constexpr std::size_t n_terms = 3;  // 1, n, n^2
using Terms = std::array<double, n_terms>;
using Matrix = std::array<Terms, n_terms>;

Terms terms_at(double length) { return {1.0, length, length * length}; }

/// Solves a x = b by elimination with row exchanges; nothing when the equations do not determine x.
std::optional<Terms> solve(Matrix a, Terms b) {
  for (std::size_t column = 0; column < n_terms; ++column) {
    auto pivot = column;
    for (auto row = column + 1; row < n_terms; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    if (a[pivot][column] == 0.0) return std::nullopt;
    std::swap(a[pivot], a[column]);
    std::swap(b[pivot], b[column]);
    for (std::size_t row = 0; row < n_terms; ++row) {
      if (row == column) continue;
      const auto factor = a[row][column] / a[column][column];
      for (auto i = column; i < n_terms; ++i) a[row][i] -= factor * a[column][i];
      b[row] -= factor * b[column];
    }
  }
  for (std::size_t i = 0; i < n_terms; ++i) b[i] /= a[i][i];
  return b;
}

/// The best fit by the terms in the set `used`, the others 0. The columns are scaled to the same size first: n^2 is a
/// million times 1.
std::optional<Terms> fit(std::span<const LengthCost> costs, unsigned used) {
  const auto longest = std::max_element(costs.begin(), costs.end(), [](const LengthCost& a, const LengthCost& b) {
                         return a.length < b.length;
                       })->length;
  const auto scale = terms_at(static_cast<double>(longest));
  Matrix normal{};
  Terms right{};
  for (const auto& cost : costs) {
    auto row = terms_at(static_cast<double>(cost.length));
    for (std::size_t i = 0; i < n_terms; ++i) row[i] = (used >> i & 1U) != 0 ? row[i] / scale[i] / cost.seconds : 0.0;
    for (std::size_t i = 0; i < n_terms; ++i) {
      for (std::size_t j = 0; j < n_terms; ++j) normal[i][j] += row[i] * row[j];
      right[i] += row[i];
    }
  }
  for (std::size_t i = 0; i < n_terms; ++i)
    if ((used >> i & 1U) == 0) normal[i][i] = 1.0;
  auto solution = solve(normal, right);
  if (!solution) return std::nullopt;
  for (std::size_t i = 0; i < n_terms; ++i) {
    if ((*solution)[i] < 0.0) return std::nullopt;
    (*solution)[i] /= scale[i];
  }
  return solution;
}

double squared_deviation(const Growth& growth, std::span<const LengthCost> costs) {
  double sum = 0.0;
  for (const auto& cost : costs) {
    const auto off = growth.seconds_at(static_cast<double>(cost.length)) / cost.seconds - 1.0;
    sum += off * off;
  }
  return sum;
}

double interpolate(std::span<const LengthCost> costs, double length) {
  const auto after = std::find_if(costs.begin(), costs.end(),
                                  [&](const LengthCost& cost) { return static_cast<double>(cost.length) >= length; });
  if (after == costs.begin()) return costs.front().seconds;
  if (after == costs.end()) return costs.back().seconds;
  const auto before = after - 1;
  const auto part =
      (length - static_cast<double>(before->length)) / static_cast<double>(after->length - before->length);
  return before->seconds + part * (after->seconds - before->seconds);
}

}  // namespace

Growth fit_growth(std::span<const LengthCost> costs) {
  Growth best;
  auto least = std::numeric_limits<double>::max();
  for (unsigned used = 1; used < 1U << n_terms; ++used) {  // all sets of terms: the best one without a negative term
    if (static_cast<std::size_t>(std::popcount(used)) > costs.size()) continue;
    const auto terms = fit(costs, used);
    if (!terms) continue;
    const Growth growth{(*terms)[0], (*terms)[1], (*terms)[2]};
    const auto deviation = squared_deviation(growth, costs);
    if (deviation > least - 1e-9) continue;  // of equals the one with the lower powers, which comes first
    least = deviation;
    best = growth;
  }
  for (const auto& cost : costs)
    best.largest_deviation = std::max(best.largest_deviation,
                                      std::abs(best.seconds_at(static_cast<double>(cost.length)) / cost.seconds - 1.0));
  return best;
}

double generation_seconds(std::span<const LengthCost> costs, std::int64_t tokens) {
  double sum = 0.0;
  for (std::int64_t length = 1; length <= tokens; ++length) sum += interpolate(costs, static_cast<double>(length));
  return sum;
}

}  // namespace qkv
