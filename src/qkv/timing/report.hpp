#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/timing/accuracy.hpp"
#include "qkv/timing/cost.hpp"
#include "qkv/timing/growth.hpp"
#include "qkv/timing/machine.hpp"
#include "qkv/timing/measure.hpp"
#include "qkv/timing/samples.hpp"

namespace qkv {

/// How a step comes to the logits after `length` tokens: by running them all, or the last one after kept ones.
enum class Mode { recompute, cached };
[[nodiscard]] std::string_view name_of(Mode mode);
[[nodiscard]] Step step_of(Mode mode, std::int64_t length);

/// Where the time of a step went, from passes that were observed.
struct PartTimes {
  PerPart<double> seconds;  // medians
  double pass = 0.0;        // median of the whole pass, observed; without an observer it is the row's own median
};

/// One mode at one length with one number of threads.
struct TimedRow {
  Mode mode = Mode::recompute;
  std::int64_t length = 0;
  int threads = 0;
  Measured measured;
  Summary time;
  PerPart<Work> work;
  std::optional<PartTimes> parts;
};

/// Both modes at one length.
struct ModeComparison {
  std::int64_t length = 0;
  int threads = 0;
  double ratio = 0.0;                     // medians, recompute / cached
  double largest_logit_difference = 0.0;  // between the two, for the same tokens
};

/// How one mode grows with the text.
struct ModeGrowth {
  Mode mode = Mode::recompute;
  int threads = 0;
  Growth growth;
  std::int64_t tokens = 0;          // the longest length
  double generation_seconds = 0.0;  // of all steps up to there
};

/// What was timed, for people and for comparing with later.
struct TimedModel {
  std::string name;
  bool random_weights = false;
  std::int64_t parameters = 0;
  std::int64_t weight_bytes = 0;
  std::string shape;  // "12 layers, 12 heads, 768 wide"
  std::string backend;
  std::string precision;
};

/// What the program was built with.
struct Build {
  std::string version;
  std::string compiler;
  std::string simd;
  std::string blas;
  std::string blas_kernel;
};

struct TimingReport {
  TimedModel model;
  Machine machine;
  Build build;
  std::vector<int> threads_asked;   // none: left to the program
  double open_seconds = 0.0;        // reading and preparing the weights
  double first_pass_seconds = 0.0;  // the first row's step, cold
  std::vector<Limits> limits;       // one a number of threads
  std::vector<TimedRow> rows;
  std::vector<ModeComparison> comparisons;
  std::vector<ModeGrowth> growth;
  std::optional<Accuracy> accuracy;  // of a precision below f32, where it was asked for
  std::int64_t peak_memory = 0;
  bool partial = false;  // interrupted: rows have fewer samples, or are missing

  [[nodiscard]] const Limits& limits_of(const TimedRow& row) const;
  [[nodiscard]] bool has_doubts() const;
};

/// What a row's median and its counted work come to.
struct Rates {
  double tokens_per_second = 0.0;  // tokens run through the model
  double flops_per_second = 0.0;
  double bytes_per_second = 0.0;
  Bound bound;         // the least time the machine needs
  double share = 0.0;  // of that limit: 1 is as fast as the machine can
};
[[nodiscard]] Rates rates_of(const TimedRow& row, const Limits& limits);
/// The same of a part; the share and the rates of one that took no time are 0.
[[nodiscard]] Rates rates_of(const TimedRow& row, Part part, const Limits& limits);

/// Fills `comparisons` (without the logit differences) and `growth` from the rows.
void derive(TimingReport& report);

}  // namespace qkv
