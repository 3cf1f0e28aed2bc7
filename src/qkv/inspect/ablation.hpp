#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/model/logprobs.hpp"
#include "qkv/model/session.hpp"

namespace qkv {

/// What the distribution of the next token becomes when some heads contribute nothing.
struct AblationEffect {
  std::vector<TokenLogprob> before;  // the likeliest tokens, likeliest first
  std::vector<TokenLogprob> after;
  double kl_divergence;  // of the distribution after from the one before, in nats
};

/// Runs the tokens with all heads and without `heads`, each from the start. Throws Error{usage} for a head that is not
/// there, Error{numbers} when the logits are not finite.
[[nodiscard]] AblationEffect measure_ablation(const Model& model, int threads, std::span<const TokenId> ids,
                                              std::span<const HeadId> heads, std::int64_t top);

}  // namespace qkv
