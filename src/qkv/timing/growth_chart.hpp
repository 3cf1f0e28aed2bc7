#pragma once

#include "qkv/draw/line_chart.hpp"
#include "qkv/timing/report.hpp"

namespace qkv {

/// What a step costs against the tokens in the text: a line for each mode and number of threads, measured medians as
/// markers and the fitted growth between them.
[[nodiscard]] draw::LineChart growth_chart(const TimingReport& report);

}  // namespace qkv
