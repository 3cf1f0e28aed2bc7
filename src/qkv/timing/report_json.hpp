#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "qkv/timing/report.hpp"

namespace qkv {

/// Medians of an earlier report, to compare with.
class Baseline {
 public:
  /// Reads what to_json() wrote. Throws Error{usage} naming file and key when it is something else.
  [[nodiscard]] static Baseline open(const std::filesystem::path& path);

  /// Seconds of the same mode, length and number of threads, or nothing.
  [[nodiscard]] std::optional<double> median_of(const TimedRow& row) const;
  /// In what its model, backend, machine or build differ from the report's, "machine processors", say; nothing when
  /// they do not. Another version of the program is no difference: its speed is what a baseline is compared for.
  [[nodiscard]] std::vector<std::string> differences(const TimingReport& report) const;

 private:
  explicit Baseline(nlohmann::json report) : report_(std::move(report)) {}
  nlohmann::json report_;
};

/// Everything in a report, raw samples too. Schema "qkv.time/1": times are seconds, rates are per second.
[[nodiscard]] nlohmann::ordered_json to_json(const TimingReport& report, const Baseline* baseline = nullptr);

/// One row of it, with its limits.
[[nodiscard]] nlohmann::ordered_json row_json(const TimingReport& report, const TimedRow& row,
                                              const Baseline* baseline = nullptr);

}  // namespace qkv
