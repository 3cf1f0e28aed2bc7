#pragma once

#include <chrono>
#include <vector>

#include "qkv/model/observer.hpp"
#include "qkv/timing/cost.hpp"

namespace qkv {

/// Says where the time of a forward pass goes: it asks for every place, and charges the time since the one before to
/// the part that ends there. Whatever passes between start() and stop() is charged to some part. Where several threads
/// share the heads of a layer, the time they took is divided among the parts as the sum of theirs.
class PartTimer : public Observer {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] Places wanted() const override { return all_places | Place::blend; }
  [[nodiscard]] bool needs_numbers() const override { return false; }
  void observe(const Observation& seen) override;

  void start();
  void stop();
  /// Seconds in each part, over all passes since start().
  [[nodiscard]] const PerPart<double>& seconds() const { return seconds_; }

 private:
  /// One of the threads that share heads, since that began. On a cache line of its own.
  struct alignas(64) Worker {
    Clock::time_point last;
    PerPart<double> seconds;
  };

  void charge(Part part);
  void begin_heads();
  void end_heads();

  Clock::time_point last_;
  PerPart<double> seconds_;
  std::vector<Worker> workers_;
};

}  // namespace qkv
