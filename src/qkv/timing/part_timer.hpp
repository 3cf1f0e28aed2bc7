#pragma once

#include <chrono>

#include "qkv/model/observer.hpp"
#include "qkv/timing/cost.hpp"

namespace qkv {

/// Says where the time of a forward pass goes: it asks for every place, and charges the time since the one before to
/// the part that ends there. Whatever passes between start() and stop() is charged to some part.
class PartTimer : public Observer {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] Places wanted() const override { return all_places | Place::blend; }
  void observe(const Observation& seen) override;

  void start();
  void stop();
  /// Seconds in each part, over all passes since start().
  [[nodiscard]] const PerPart<double>& seconds() const { return seconds_; }

 private:
  void charge(Part part);

  Clock::time_point last_;
  PerPart<double> seconds_;
};

}  // namespace qkv
