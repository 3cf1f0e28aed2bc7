#pragma once

#include <cstdint>
#include <span>

namespace qkv {

/// A text of `length` tokens, and what a step costs there.
struct LengthCost {
  std::int64_t length = 0;
  double seconds = 0.0;
};

/// How the cost of a step grows with the text: fixed + per_token n + per_square n^2 seconds. The squared term is what
/// comparing every token with every other one costs.
struct Growth {
  double fixed = 0.0;
  double per_token = 0.0;
  double per_square = 0.0;
  double largest_deviation = 0.0;  // of the fit from a measured cost, as a share of it

  [[nodiscard]] double seconds_at(double length) const { return fixed + (per_token + per_square * length) * length; }
};

/// Least squares of the relative deviations, so that short texts count as much as long ones; no term is negative. As
/// many terms as there are lengths at most: at least two are needed for a growth. `costs` must not be empty.
[[nodiscard]] Growth fit_growth(std::span<const LengthCost> costs);

/// Seconds of all steps while a text grows from one token to `tokens`, each at its own length: measured costs, and
/// straight lines between them. `costs` ascending by length, not empty; outside of them the nearest one counts.
[[nodiscard]] double generation_seconds(std::span<const LengthCost> costs, std::int64_t tokens);

}  // namespace qkv
