#include "qkv/timing/part_timer.hpp"

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

void PartTimer::observe(const Observation& seen) { charge(part_before(seen.place)); }

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

}  // namespace qkv
