#include "qkv/inspect/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/core/error.hpp"
#include "qkv/model/finite_check.hpp"

namespace qkv {
namespace {

/// Rows whose logits are made at once: 32 MB of them at most, in whole blocks (see narrow_block).
std::int64_t rows_at_once(std::int64_t n_vocab) {
  constexpr std::int64_t most_numbers = std::int64_t{1} << 23U;
  constexpr std::int64_t block = 16;
  constexpr std::int64_t most_rows = 128;
  return std::clamp(most_numbers / n_vocab, block, most_rows) / block * block;
}

std::int64_t rank_of(std::span<const float> logits, TokenId id) {
  const auto place = static_cast<std::size_t>(id);
  const auto own = logits[place];
  std::int64_t before = 0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    before += static_cast<std::int64_t>(logits[i] > own || (logits[i] == own && i < place));
  return before + 1;
}

class Scoring {
 public:
  Scoring(Session& session, std::span<const TokenId> ids, const ScoreOptions& options,
          const std::function<void(const TokenScore&)>& on_token)
      : session_(session),
        ids_(ids),
        options_(options),
        windows_(resolve_windows(options.windows, session.model().config())),
        on_token_(on_token),
        chunk_(rows_at_once(session.model().config().n_vocab)) {}

  ScoreTotals run() {
    take({0, ids_.front()});
    const auto count = static_cast<std::int64_t>(ids_.size());
    for (std::int64_t begin = 0; totals_.complete && totals_.tokens < count; begin += windows_.stride)
      run_window(begin, std::min(begin + windows_.window, count));
    return totals_;
  }

 private:
  /// The window's tokens up to those that predict what is not scored yet only leave keys and values; the others are run
  /// with logits. The last token of a window predicts nothing that is scored by it.
  void run_window(std::int64_t begin, std::int64_t end) {
    session_.rewind(0);
    const auto first = totals_.tokens - 1;
    for (auto at = begin; at < end - 1;) {
      if (options_.go_on && !options_.go_on()) {
        totals_.complete = false;
        return;
      }
      const bool scores = at >= first;
      const auto count = std::min(chunk_, (scores ? end - 1 : first) - at);
      const auto part = ids_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
      const auto logits = session_.forward(part, scores ? Rows::all : Rows::last);
      if (scores) score_rows(logits, begin, at);
      at += count;
    }
  }

  /// `logits` [T, V] of the tokens from `at` on, in a window that begins at `begin`.
  void score_rows(ConstMatrixView logits, std::int64_t begin, std::int64_t at) {
    for (std::int64_t row = 0; row < logits.rows; ++row) {
      const auto position = at + row + 1;
      const auto context = position - begin;
      const auto numbers = logits.row(row);
      require_finite(numbers, session_,
                     ids_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(context)));
      const auto id = ids_[static_cast<std::size_t>(position)];
      take({position, id, logprob_of(numbers, id), rank_of(numbers, id), context,
            options_.top > 0 ? top_logprobs(numbers, options_.top) : std::vector<TokenLogprob>()});
    }
  }

  void take(const TokenScore& score) {
    ++totals_.tokens;
    if (score.logprob) {
      ++totals_.scored;
      totals_.logprob += *score.logprob;
    }
    on_token_(score);
  }

  Session& session_;
  std::span<const TokenId> ids_;
  const ScoreOptions& options_;
  Windows windows_;
  const std::function<void(const TokenScore&)>& on_token_;
  std::int64_t chunk_;
  ScoreTotals totals_;
};

}  // namespace

double ScoreTotals::mean_loss() const { return -logprob / static_cast<double>(scored); }

double ScoreTotals::perplexity() const { return std::exp(mean_loss()); }

Windows resolve_windows(const Windows& windows, const Config& config) {
  Windows resolved = windows;
  if (resolved.window == 0) resolved.window = config.n_ctx;
  if (resolved.window < 2 || resolved.window > config.n_ctx)
    throw Error(ErrorCode::usage, fmt::format("window: expected 2 to {} tokens (the model's context), found {}",
                                              config.n_ctx, resolved.window));
  if (resolved.stride == 0) resolved.stride = resolved.window / 2;
  if (resolved.stride < 1 || resolved.stride >= resolved.window)
    throw Error(ErrorCode::usage, fmt::format("stride: expected 1 to {} tokens (the window is {}), found {}",
                                              resolved.window - 1, resolved.window, resolved.stride));
  return resolved;
}

ScoreTotals score_text(Session& session, std::span<const TokenId> ids, const ScoreOptions& options,
                       const std::function<void(const TokenScore&)>& on_token) {
  check_ids(session.model().config(), ids);
  if (ids.size() < 2)
    throw Error(ErrorCode::input,
                fmt::format("input: expected at least two tokens, since the first has no score, found {}", ids.size()));
  return Scoring(session, ids, options, on_token).run();
}

}  // namespace qkv
