#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/core/token_id.hpp"

namespace qkv {

/// A token and the logarithm of its probability under softmax(logits), in nats.
struct TokenLogprob {
  TokenId id;
  double logprob;
};

/// log softmax(logits) at `id`.
[[nodiscard]] double logprob_of(std::span<const float> logits, TokenId id);
/// The `count` likeliest tokens, the likeliest first, the lower id first on ties.
[[nodiscard]] std::vector<TokenLogprob> top_logprobs(std::span<const float> logits, std::int64_t count);
/// How far the distribution of `q` is from that of `p`, both softmax(logits) over the same tokens: the sum of
/// p log(p / q), in nats. Kullback and Leibler, "On Information and Sufficiency", 1951.
[[nodiscard]] double kl_divergence(std::span<const float> p, std::span<const float> q);

}  // namespace qkv
