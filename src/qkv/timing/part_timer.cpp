#include "qkv/timing/part_timer.hpp"

#include "qkv/ops/parallel.hpp"

namespace qkv {
namespace {

/// The part that has just ended when a place is observed.
Part part_before(Place place) {
  switch (place) {
    case Place::attn_in:
    case Place::mlp_in:
    case Place::final_norm:
      return Part::norms;
    case Place::q:
    case Place::k:
    case Place::v:
      return Part::qkv;
    case Place::scores:
      return Part::scores;
    case Place::weights:
      return Part::softmax;
    case Place::blend:
      return Part::blend;
    case Place::attn_out:
      return Part::w_o;
    case Place::mlp_out:
      return Part::mlp;
    case Place::logits:
      return Part::head;
    case Place::embedding:
    case Place::head_out:
    case Place::residual:
    case Place::residual_mid:
      return Part::rest;
  }
  return Part::rest;
}

}  // namespace

void PartTimer::observe(const Observation& seen) {
  const auto part = part_before(seen.place);
  switch (seen.place) {
    case Place::scores:
    case Place::weights:
    case Place::blend: {
      auto& worker = workers_[static_cast<std::size_t>(seen.worker)];
      const auto now = Clock::now();
      worker.seconds[part] += std::chrono::duration<double>(now - worker.last).count();
      worker.last = now;
      return;
    }
    case Place::v:
      charge(part);
      return begin_heads();
    case Place::head_out:
      return end_heads();
    default:
      return charge(part);
  }
}

void PartTimer::start() {
  seconds_ = {};
  last_ = Clock::now();
}

void PartTimer::stop() { charge(Part::rest); }

void PartTimer::charge(Part part) {
  const auto now = Clock::now();
  seconds_[part] += std::chrono::duration<double>(now - last_).count();
  last_ = now;
}

void PartTimer::begin_heads() { workers_.assign(static_cast<std::size_t>(ops::worker_count()), {last_, {}}); }

void PartTimer::end_heads() {
  PerPart<double> sums;
  double all = 0.0;
  for (const auto& worker : workers_)
    for (const auto part : all_parts) {
      sums[part] += worker.seconds[part];
      all += worker.seconds[part];
    }
  const auto now = Clock::now();
  const auto passed = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  if (all == 0.0) {
    seconds_[Part::rest] += passed;
    return;
  }
  for (const auto part : all_parts) seconds_[part] += passed * sums[part] / all;
}

}  // namespace qkv
