#include "qkv/timing/accuracy.hpp"

#include <algorithm>
#include <cmath>

#include "qkv/model/finite_check.hpp"
#include "qkv/model/logprobs.hpp"
#include "qkv/model/session.hpp"

namespace qkv {
namespace {

constexpr std::int64_t most_window = 256;  // tokens whose logits are in memory at a time, of both models

TokenId likeliest(std::span<const float> logits) {
  return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// Adds up what the rows of logits of one window show, and what is left to be divided in the end.
class Comparison {
 public:
  void add(ConstMatrixView exact, ConstMatrixView other, std::span<const TokenId> ids) {
    for (std::int64_t t = 0; t < exact.rows; ++t) {
      add_row(exact.row(t), other.row(t));
      if (t + 1 == exact.rows) continue;  // the next token is in another window
      const auto next = ids[static_cast<std::size_t>(t) + 1];
      exact_loss_ -= logprob_of(exact.row(t), next);
      loss_ -= logprob_of(other.row(t), next);
      ++predicted_;
    }
  }

  [[nodiscard]] Accuracy result() const {
    auto found = found_;
    const auto tokens = static_cast<double>(std::max<std::int64_t>(1, found.tokens));
    const auto predicted = static_cast<double>(std::max<std::int64_t>(1, predicted_));
    found.mean_kl /= tokens;
    found.same_choice /= tokens;
    found.exact_perplexity = std::exp(exact_loss_ / predicted);
    found.perplexity = std::exp(loss_ / predicted);
    return found;
  }

 private:
  void add_row(std::span<const float> exact, std::span<const float> other) {
    ++found_.tokens;
    for (std::size_t v = 0; v < exact.size(); ++v) {
      const auto logit = static_cast<double>(exact[v]);
      found_.largest_logit = std::max(found_.largest_logit, std::abs(logit));
      found_.largest_logit_difference =
          std::max(found_.largest_logit_difference, std::abs(static_cast<double>(other[v]) - logit));
    }
    const auto kl = kl_divergence(exact, other);
    found_.mean_kl += kl;
    found_.largest_kl = std::max(found_.largest_kl, kl);
    if (likeliest(exact) == likeliest(other)) found_.same_choice += 1.0;
  }

  Accuracy found_;  // sums where the result has means
  double exact_loss_ = 0.0;
  double loss_ = 0.0;
  std::int64_t predicted_ = 0;
};

/// [T, V]
ConstMatrixView finite_logits(Session& session, std::span<const TokenId> text) {
  const auto logits = session.forward(text, Rows::all);
  require_finite({logits.data, static_cast<std::size_t>(logits.rows * logits.cols)}, session, text);
  return logits;
}

}  // namespace

Accuracy compare_accuracy(const Model& exact, const Model& other, std::span<const TokenId> ids,
                          const std::function<bool()>& go_on) {
  Session exact_session(exact);
  Session other_session(other);
  Comparison comparison;
  const auto window = static_cast<std::size_t>(std::min(most_window, exact.config().n_ctx));
  for (std::size_t at = 0; at < ids.size() && go_on(); at += window) {
    const auto text = ids.subspan(at, std::min(window, ids.size() - at));
    exact_session.rewind(0);
    other_session.rewind(0);
    comparison.add(finite_logits(exact_session, text), finite_logits(other_session, text), text);
  }
  return comparison.result();
}

std::vector<TokenId> some_ids(const Config& config, std::int64_t count) {
  std::vector<TokenId> ids;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = (static_cast<std::uint32_t>(i) + 1U) * 2654435761U;
    ids.push_back(static_cast<TokenId>(bits % static_cast<std::uint64_t>(config.n_vocab)));
  }
  return ids;
}

}  // namespace qkv
