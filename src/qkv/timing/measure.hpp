#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace qkv {

/// Something to be timed. `sample` runs it so many times in a row and returns the seconds of one.
struct Task {
  std::function<double(std::int64_t passes)> sample;
  int group = 0;  // tasks that use other threads belong to another group
};

struct MeasureOptions {
  std::int64_t repetitions = 10;
  std::int64_t warmup = 2;            // samples at least that do not count
  std::function<bool()> should_stop;  // asked between samples; may be empty
  std::function<void(std::int64_t done, std::int64_t total)>
      progress;  // samples that count; 0 in the warm-up; may be empty
};

struct Measured {
  std::int64_t passes = 1;      // in a row, each sample
  std::int64_t warmups = 0;     // samples that were thrown away
  bool settled = false;         // the last two of them agreed within 5 %
  std::vector<double> samples;  // seconds a pass, in the order taken
};

/// Times the tasks in turn, one sample of each a round, so that a drift of the machine hits all alike. Before that each
/// is warmed up: at least `warmup` samples, then until two in a row agree within 5 %, but no more than 12 samples or 3
/// seconds. A task shorter than a millisecond is run several times a sample. When the group changes, one pass is thrown
/// away: threads that slept wake up, others go to sleep.
[[nodiscard]] std::vector<Measured> measure(std::span<const Task> tasks, const MeasureOptions& options);

/// Seconds of one of `passes` runs in a row, by a clock that never goes back.
[[nodiscard]] double time_passes(std::int64_t passes, const std::function<void()>& run);

}  // namespace qkv
