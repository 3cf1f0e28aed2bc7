#include "qkv/inspect/ablation.hpp"

#include "qkv/model/finite_check.hpp"

namespace qkv {

AblationEffect measure_ablation(const Model& model, int threads, std::span<const TokenId> ids,
                                std::span<const HeadId> heads, std::int64_t top) {
  Session whole(model, threads);
  Session ablated(model, threads);
  ablated.ablate(heads);
  const auto before = whole.forward(ids).row(0);
  const auto after = ablated.forward(ids).row(0);
  require_finite(before, whole, ids);
  require_finite(after, ablated, ids);
  return {top_logprobs(before, top), top_logprobs(after, top), kl_divergence(before, after)};
}

}  // namespace qkv
