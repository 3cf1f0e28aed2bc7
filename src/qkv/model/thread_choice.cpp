#include "qkv/model/thread_choice.hpp"

#include <algorithm>
#include <ctime>

namespace qkv {
namespace {

constexpr double kept_from_running = 0.85;  // of the processor time that all threads could have had
constexpr double shortest_pass = 1e-3;      // seconds; below it the clocks say little
constexpr double no_accident = 0.05;        // seconds in a row, before anything is done about it

}  // namespace

void ThreadChoice::passed(const PassTime& pass) {
  if (!adapts_ || pass.seconds < shortest_pass) return;
  auto& known = known_[pass.rows > 1 ? 1 : 0];
  if (alone_) {
    const bool slower_alone = pass.seconds / static_cast<double>(pass.rows) > known.all && known.all > 0.0;
    if (slower_alone || pass.end >= next_change_) alone_ = false;
    if (slower_alone) next_change_ = pass.end + longest_patience;
    return;
  }
  if (pass.processor_seconds >= kept_from_running * most_ * pass.seconds) {  // they all ran
    patience_ = shortest_patience;
    known = {};
    return;
  }
  known.seconds += pass.seconds;
  known.rows += pass.rows;
  if (known.seconds < no_accident || pass.end < next_change_) return;
  known = {0.0, 0, known.seconds / static_cast<double>(known.rows)};
  alone_ = true;
  next_change_ = pass.end + patience_;
  patience_ = std::min(2 * patience_, longest_patience);
}

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace qkv
