#pragma once

#include <span>
#include <string>

namespace qkv {

/// What a list of samples comes to. Times are seconds a pass.
struct Summary {
  double median = 0.0;
  double min = 0.0;
  double p90 = 0.0;   // nine of ten samples are at most this
  double mad = 0.0;   // median absolute deviation from the median
  std::string doubt;  // why the median is not to be trusted, or nothing

  /// The deviation as a share of the median.
  [[nodiscard]] double spread() const { return median > 0.0 ? mad / median : 0.0; }
};

/// The rule of doubt: fewer than 5 samples; or a spread above 3 %, so that a tenth of the samples and more lie off by 7
/// %; or a drift, the medians of the first and the second half of the samples more than 5 % apart. `samples` in the
/// order they were taken, at least one.
[[nodiscard]] Summary summarize(std::span<const double> samples);

/// The middle one, or the mean of the two in the middle. At least one.
[[nodiscard]] double median_of(std::span<const double> samples);

}  // namespace qkv
