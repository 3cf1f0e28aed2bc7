#include "qkv/timing/growth_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace qkv {
namespace {

std::string words_for(Mode mode) { return mode == Mode::recompute ? "everything recomputed" : "keys and values kept"; }

/// The fit, in steps that look smooth on a logarithmic axis.
std::vector<draw::Point> curve_of(const Growth& growth, double shortest, double longest) {
  constexpr int steps = 100;
  std::vector<draw::Point> curve;
  for (int i = 0; i <= steps; ++i) {
    const auto length = shortest * std::pow(longest / shortest, static_cast<double>(i) / steps);
    curve.push_back({length, growth.seconds_at(length)});
  }
  return curve;
}

draw::ChartSeries series_of(const TimingReport& report, const ModeGrowth& growth) {
  draw::ChartSeries series;
  series.name = words_for(growth.mode);
  if (report.limits.size() > 1)
    series.name += fmt::format(", {} thread{}", growth.threads, growth.threads == 1 ? "" : "s");
  for (const auto& row : report.rows)
    if (row.mode == growth.mode && row.threads == growth.threads)
      series.points.push_back({static_cast<double>(row.length), row.time.median});
  // A fit that misses what was measured would mislead the eye: then the markers are joined instead.
  constexpr double close = 0.15;
  if (growth.growth.largest_deviation > close) return series;
  const auto [first, last] = std::minmax_element(series.points.begin(), series.points.end(),
                                                 [](const auto& a, const auto& b) { return a.x < b.x; });
  series.curve = curve_of(growth.growth, first->x, last->x);
  return series;
}

std::string note_on(const TimingReport& report, const ModeGrowth& growth) {
  return fmt::format("Generating {} tokens one by one, {}{}: {}", growth.tokens, words_for(growth.mode),
                     report.limits.size() > 1 ? fmt::format(" ({} threads)", growth.threads) : "",
                     draw::quantity_text(draw::Quantity::seconds, growth.generation_seconds));
}

}  // namespace

draw::LineChart growth_chart(const TimingReport& report) {
  const auto& model = report.model;
  draw::LineChart chart;
  chart.title = fmt::format("{}: what the next token costs", model.name);
  chart.subtitle = fmt::format("{}, {}, {}, {}", model.shape, model.backend, model.precision, report.machine.processor);
  if (report.limits.size() == 1)
    chart.subtitle +=
        fmt::format(", {} thread{}", report.limits.front().threads, report.limits.front().threads == 1 ? "" : "s");
  chart.x.title = "tokens in the text";
  chart.y.title = "time of a step, median";
  for (const auto& growth : report.growth) {
    chart.series.push_back(series_of(report, growth));
    chart.notes.push_back(note_on(report, growth));
  }
  return chart;
}

}  // namespace qkv
