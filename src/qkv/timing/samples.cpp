#include "qkv/timing/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace qkv {
namespace {

constexpr std::size_t least_samples = 5;
constexpr double most_spread = 0.03;
constexpr double most_drift = 0.05;

/// The medians of both halves, as a ratio above one less one.
double drift_of(std::span<const double> samples) {
  const auto half = samples.size() / 2;
  const auto first = median_of(samples.first(half));
  const auto second = median_of(samples.last(half));
  const auto least = std::min(first, second);
  return least > 0.0 ? std::max(first, second) / least - 1.0 : 0.0;
}

std::string doubt_about(std::span<const double> samples, double spread) {
  if (samples.size() < least_samples)
    return fmt::format("{} samples are too few to judge, {} would do", samples.size(), least_samples);
  if (spread > most_spread) return fmt::format("spread {:.1f} %, above {:.0f} %", 100 * spread, 100 * most_spread);
  if (const auto drift = drift_of(samples); drift > most_drift)
    return fmt::format("drift {:.1f} % between the halves of the run, above {:.0f} %", 100 * drift, 100 * most_drift);
  return {};
}

}  // namespace

double median_of(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Summary summarize(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  Summary summary;
  summary.median = median_of(samples);
  summary.min = sorted.front();
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(sorted.size())));
  summary.p90 = sorted[rank - 1];
  std::vector<double> off;
  for (const auto sample : samples) off.push_back(std::abs(sample - summary.median));
  summary.mad = median_of(off);
  summary.doubt = doubt_about(samples, summary.spread());
  return summary;
}

}  // namespace qkv
