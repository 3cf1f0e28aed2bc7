#pragma once

#include <chrono>
#include <string_view>

namespace qkv::app {

/// A line on stderr that is overwritten as work goes on, once it has taken long enough to wonder. It is gone at the
/// end. Nothing is shown where log::shows_progress() says no.
class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  /// Whether a line shown now would be read: it is not too early, and the last one stood for a moment.
  [[nodiscard]] bool is_due() const;
  /// Shows the text, but not where no such line belongs.
  void show(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point last_;
  bool shown_ = false;
};

}  // namespace qkv::app
