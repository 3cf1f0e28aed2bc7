#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/generate/random.hpp"
#include "qkv/model/logprobs.hpp"

namespace qkv {

/// How the next token is chosen. Applied in this order: repeat penalty, top_k, temperature, top_p, min_p, draw.
struct Sampling {
  double temperature = 0.8;     // logits are divided by it; 0: the largest logit, the lowest id on ties
  std::int64_t top_k = 40;      // only the k likeliest; 0: all
  double top_p = 0.95;          // only the likeliest that together reach p; 1: all
  double min_p = 0.0;           // only those at least min_p times as likely as the likeliest; 0: all
  double repeat_penalty = 1.0;  // logits of tokens already there: divided by it above 0, multiplied below; 1: none
  std::uint64_t seed = 0;
};

/// Draws tokens. One seed gives one sequence of draws, whatever the machine and the number of threads.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling), random_(sampling.seed) {}

  /// `logits` [V], finite; `history`: the tokens so far, for the repeat penalty.
  [[nodiscard]] TokenId choose(std::span<const float> logits, std::span<const TokenId> history);

  [[nodiscard]] const Sampling& sampling() const { return sampling_; }

 private:
  struct Candidate {
    TokenId id;
    double value;  // logit, then probability (not normalised)
  };
  void penalise(std::span<const TokenId> history);
  void keep_likeliest();
  [[nodiscard]] TokenId draw();

  Sampling sampling_;
  Random random_;
  std::vector<Candidate> candidates_;
};

}  // namespace qkv
