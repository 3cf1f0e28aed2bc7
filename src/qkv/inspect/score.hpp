#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "qkv/model/logprobs.hpp"
#include "qkv/model/session.hpp"

namespace qkv {

/// How a text that is longer than the context is cut: window number w holds the tokens w * stride up to
/// w * stride + window, and the last one ends with the text. The numbers are resolved by resolve_windows().
struct Windows {
  std::int64_t window = 0;  // tokens; 0: the model's context
  std::int64_t stride = 0;  // tokens; 0: half the window
};

/// Fills in what is 0. Throws Error{usage} unless 2 <= window <= n_ctx and 1 <= stride < window.
[[nodiscard]] Windows resolve_windows(const Windows& windows, const Config& config);

/// One token of the text and how likely the model held it after the tokens before it.
struct TokenScore {
  std::int64_t position;
  TokenId id;
  std::optional<double> logprob{};  // natural; none for the first token, before which nothing stands
  std::int64_t rank = 0;            // 1 for the likeliest token, the lower id first on ties
  std::int64_t context = 0;         // tokens before it that the model saw
  std::vector<TokenLogprob> top{};  // the likeliest instead of it, the likeliest first
};

struct ScoreTotals {
  std::int64_t tokens = 0;  // of the text, as far as it was read
  std::int64_t scored = 0;
  double logprob = 0.0;  // the sum over the scored ones
  bool complete = true;

  /// -logprob / scored, in nats a token.
  [[nodiscard]] double mean_loss() const;
  [[nodiscard]] double perplexity() const;
};

struct ScoreOptions {
  Windows windows;
  std::int64_t top = 0;         // how many of the likeliest tokens are wanted
  std::function<bool()> go_on;  // asked before each forward pass; false ends the scoring
};

/// Scores every token of a text of any length, in order. Each is scored once, by the first window that holds it, so
/// with at least window - stride tokens before it but at the start of the text. A window begins with the text's own
/// token there, nothing is put in front of it. Within a window keys and values are kept; logits are made for a few rows
/// at a time, so that memory does not grow with the text. Throws Error{input} for fewer than two tokens or an id that
/// is not there, Error{usage} like resolve_windows(), Error{numbers} when the logits are not finite.
ScoreTotals score_text(Session& session, std::span<const TokenId> ids, const ScoreOptions& options,
                       const std::function<void(const TokenScore&)>& on_token);

}  // namespace qkv
