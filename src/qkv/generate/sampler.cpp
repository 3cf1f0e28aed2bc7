#include "qkv/generate/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qkv {
TokenId Sampler::choose(std::span<const float> logits, std::span<const TokenId> history) {
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i)
    candidates_.push_back({static_cast<TokenId>(i), static_cast<double>(logits[i])});
  if (sampling_.repeat_penalty != 1.0) penalise(history);
  if (sampling_.temperature == 0.0) {
    const auto best = std::max_element(candidates_.begin(), candidates_.end(),
                                       [](const auto& a, const auto& b) { return a.value < b.value; });
    return best->id;  // max_element keeps the first of equals, which is the lowest id
  }
  keep_likeliest();
  return draw();
}

void Sampler::penalise(std::span<const TokenId> history) {
  std::vector<TokenId> seen(history.begin(), history.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const auto id : seen) {
    auto& logit = candidates_[static_cast<std::size_t>(id)].value;
    logit = logit > 0.0 ? logit / sampling_.repeat_penalty : logit * sampling_.repeat_penalty;
  }
}

/// Sorts the candidates, turns logits into probabilities up to a factor, and cuts the tail off.
void Sampler::keep_likeliest() {
  const auto likelier = [](const Candidate& a, const Candidate& b) {
    return a.value != b.value ? a.value > b.value : a.id < b.id;
  };
  const auto k = sampling_.top_k == 0 ? candidates_.size()
                                      : std::min(candidates_.size(), static_cast<std::size_t>(sampling_.top_k));
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k), candidates_.end(),
                    likelier);
  candidates_.resize(k);

  const auto largest = candidates_.front().value;
  double total = 0.0;
  for (auto& candidate : candidates_)
    total += candidate.value = std::exp((candidate.value - largest) / sampling_.temperature);

  std::size_t keep = 0;
  double reached = 0.0;
  while (keep < candidates_.size() && (keep == 0 || reached < sampling_.top_p * total))
    reached += candidates_[keep++].value;
  candidates_.resize(keep);
  const auto least = sampling_.min_p;  // the likeliest has probability 1 here
  while (candidates_.size() > 1 && candidates_.back().value < least) candidates_.pop_back();
}

/// Inverse of the cumulative distribution at a uniform number.
TokenId Sampler::draw() {
  const auto total = std::accumulate(candidates_.begin(), candidates_.end(), 0.0,
                                     [](double sum, const Candidate& candidate) { return sum + candidate.value; });
  auto left = random_.uniform() * total;
  for (const auto& candidate : candidates_) {
    left -= candidate.value;
    if (left < 0.0) return candidate.id;
  }
  return candidates_.back().id;
}

}  // namespace qkv
