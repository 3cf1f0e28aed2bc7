#pragma once

#include <string>

#include "qkv/timing/report_json.hpp"

namespace qkv::app {

/// A report in the forms that --format names. `baseline` may be null.
[[nodiscard]] std::string timing_table(const TimingReport& report, const Baseline* baseline);
[[nodiscard]] std::string timing_markdown(const TimingReport& report, const Baseline* baseline);
[[nodiscard]] std::string timing_csv(const TimingReport& report, const Baseline* baseline);
[[nodiscard]] std::string timing_json(const TimingReport& report, const Baseline* baseline);
/// One row a line, then everything else.
[[nodiscard]] std::string timing_jsonl(const TimingReport& report, const Baseline* baseline);

}  // namespace qkv::app
