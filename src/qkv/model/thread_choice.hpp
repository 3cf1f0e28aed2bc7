#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace qkv {

/// What one forward pass took.
struct PassTime {
  std::chrono::steady_clock::time_point end;
  double seconds = 0.0;            // by the clock
  double processor_seconds = 0.0;  // of all threads of the process
  std::int64_t rows = 0;           // new tokens
};

/// With how many threads to run the next pass. When another process takes a processor away, every product waits for
/// the thread that is not running, and one thread alone is faster: on two processors with one of them taken, a pass of
/// 64 tokens through GPT-2 124M took 242 ms with two threads and 117 with one. So after passes whose threads were kept
/// from running, the next ones use one thread, until it is time to try again. Where one thread proves slower, all stay.
class ThreadChoice {
 public:
  /// `most` >= 1. Unless `adapts` and there are two, threads() is always `most`: of more, one alone would be the
  /// slower.
  ThreadChoice(int most, bool adapts) : most_(most), adapts_(adapts && most == 2) {}

  [[nodiscard]] int threads() const { return alone_ ? 1 : most_; }
  [[nodiscard]] int most() const { return most_; }
  [[nodiscard]] bool adapts() const { return adapts_; }
  void passed(const PassTime& pass);

 private:
  using Clock = std::chrono::steady_clock;

  /// Of passes whose threads were kept from running.
  struct Known {
    double seconds = 0.0;  // of those in a row, up to now
    std::int64_t rows = 0;
    double all = 0.0;  // seconds a row, of those that led to one thread
  };

  int most_;
  bool adapts_;
  bool alone_ = false;
  std::array<Known, 2> known_;     // of passes with one row, and with several
  Clock::time_point next_change_;  // not before this is the choice made anew
  std::chrono::milliseconds patience_{shortest_patience};
  static constexpr std::chrono::milliseconds shortest_patience{250};
  static constexpr std::chrono::milliseconds longest_patience{4000};
};

/// Processor time of this process so far, in seconds, all threads together.
[[nodiscard]] double processor_seconds();

}  // namespace qkv
