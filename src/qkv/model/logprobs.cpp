#include "qkv/model/logprobs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qkv {
namespace {

/// The logarithm of the sum of exp(logit), the largest taken out so that nothing overflows.
double log_sum_exp(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const auto logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

}  // namespace

double logprob_of(std::span<const float> logits, TokenId id) {
  return static_cast<double>(logits[static_cast<std::size_t>(id)]) - log_sum_exp(logits);
}

std::vector<TokenLogprob> top_logprobs(std::span<const float> logits, std::int64_t count) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto k = std::min(ids.size(), static_cast<std::size_t>(count));
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(k), ids.end(), [&](TokenId a, TokenId b) {
    const auto at = [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; };
    return at(a) != at(b) ? at(a) > at(b) : a < b;
  });
  const auto normaliser = log_sum_exp(logits);
  std::vector<TokenLogprob> top;
  for (std::size_t i = 0; i < k; ++i)
    top.push_back({ids[i], static_cast<double>(logits[static_cast<std::size_t>(ids[i])]) - normaliser});
  return top;
}

double kl_divergence(std::span<const float> p, std::span<const float> q) {
  const auto normaliser_p = log_sum_exp(p);
  const auto normaliser_q = log_sum_exp(q);
  double sum = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto log_p = static_cast<double>(p[i]) - normaliser_p;
    const auto log_q = static_cast<double>(q[i]) - normaliser_q;
    sum += std::exp(log_p) * (log_p - log_q);
  }
  return std::max(sum, 0.0);  // rounding can leave it a hair below
}

}  // namespace qkv
