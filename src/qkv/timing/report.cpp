#include "qkv/timing/report.hpp"

#include <algorithm>

namespace qkv {
namespace {

Rates rates(double seconds, std::int64_t tokens, const Work& work, const Bound& bound) {
  if (seconds <= 0.0) return {0.0, 0.0, 0.0, bound, 0.0};
  return {static_cast<double>(tokens) / seconds, static_cast<double>(work.flops) / seconds,
          static_cast<double>(work.bytes) / seconds, bound, bound.seconds / seconds};
}

/// The rows of one mode and number of threads, ascending by length.
std::vector<LengthCost> costs_of(const TimingReport& report, Mode mode, int threads) {
  std::vector<LengthCost> costs;
  for (const auto& row : report.rows)
    if (row.mode == mode && row.threads == threads && row.time.median > 0.0)
      costs.push_back({row.length, row.time.median});
  std::sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.length < b.length; });
  return costs;
}

}  // namespace

std::string_view name_of(Mode mode) { return mode == Mode::recompute ? "recompute" : "cached"; }

Step step_of(Mode mode, std::int64_t length) { return mode == Mode::recompute ? Step{0, length} : Step{length - 1, 1}; }

const Limits& TimingReport::limits_of(const TimedRow& row) const {
  return *std::find_if(limits.begin(), limits.end(), [&](const Limits& one) { return one.threads == row.threads; });
}

bool TimingReport::has_doubts() const {
  return std::any_of(rows.begin(), rows.end(), [](const TimedRow& row) { return !row.time.doubt.empty(); });
}

Rates rates_of(const TimedRow& row, const Limits& limits) {
  return rates(row.time.median, step_of(row.mode, row.length).count, total(row.work), bound_of(row.work, limits));
}

Rates rates_of(const TimedRow& row, Part part, const Limits& limits) {
  return rates(row.parts->seconds[part], step_of(row.mode, row.length).count, row.work[part],
               bound_of(part, row.work[part], limits));
}

void derive(TimingReport& report) {
  for (const auto& limits : report.limits) {
    const auto recompute = costs_of(report, Mode::recompute, limits.threads);
    const auto cached = costs_of(report, Mode::cached, limits.threads);
    for (const auto& plain : recompute)
      for (const auto& kept : cached)
        if (plain.length == kept.length)
          report.comparisons.push_back({plain.length, limits.threads, plain.seconds / kept.seconds, 0.0});
    for (const auto mode : {Mode::recompute, Mode::cached}) {
      const auto& costs = mode == Mode::recompute ? recompute : cached;
      if (costs.size() < 2) continue;
      const auto tokens = costs.back().length;
      report.growth.push_back({mode, limits.threads, fit_growth(costs), tokens, generation_seconds(costs, tokens)});
    }
  }
}

}  // namespace qkv
