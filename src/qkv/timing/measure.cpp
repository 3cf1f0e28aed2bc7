#include "qkv/timing/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace qkv {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t most_warmups = 12;
constexpr double longest_warmup = 3.0;  // seconds
constexpr double agreement = 0.05;
constexpr double shortest_sample = 1e-3;  // seconds
constexpr std::int64_t most_passes = 1000;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::int64_t passes_for(double seconds) {
  if (seconds * static_cast<double>(most_passes) <= shortest_sample) return most_passes;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(shortest_sample / seconds)));
}

bool stopped(const MeasureOptions& options) { return options.should_stop && options.should_stop(); }

void warm_up(const Task& task, const MeasureOptions& options, Measured& measured) {
  const auto begin = Clock::now();
  double before = 0.0;
  while (!stopped(options)) {
    if (measured.warmups >= options.warmup &&
        (measured.settled || measured.warmups >= most_warmups || seconds_since(begin) > longest_warmup))
      return;
    const auto now = task.sample(measured.passes);
    ++measured.warmups;
    measured.passes = passes_for(now);
    measured.settled = measured.warmups > 1 && std::abs(now - before) <= agreement * std::min(now, before);
    before = now;
  }
}

}  // namespace

double time_passes(std::int64_t passes, const std::function<void()>& run) {
  const auto begin = Clock::now();
  for (std::int64_t pass = 0; pass < passes; ++pass) run();
  return seconds_since(begin) / static_cast<double>(passes);
}

std::vector<Measured> measure(std::span<const Task> tasks, const MeasureOptions& options) {
  std::vector<Measured> all(tasks.size());
  const auto total = options.repetitions * static_cast<std::int64_t>(tasks.size());
  std::int64_t done = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (options.progress) options.progress(done, total);
    warm_up(tasks[i], options, all[i]);
  }
  for (std::int64_t round = 0; round < options.repetitions; ++round)
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (stopped(options)) return all;
      const bool changed = tasks[i].group != tasks[i == 0 ? tasks.size() - 1 : i - 1].group;
      if (changed) (void)tasks[i].sample(1);
      all[i].samples.push_back(tasks[i].sample(all[i].passes));
      if (options.progress) options.progress(++done, total);
    }
  return all;
}

}  // namespace qkv
