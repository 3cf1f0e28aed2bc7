#include "qkv/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/model/finite_check.hpp"

namespace qkv {
namespace {

bool keeps_first(const Config& config, std::span<const TokenId> text) {
  return config.bos && text.front() == *config.bos && config.n_ctx > 2;
}

/// The tokens the model sees: all of them, until they no longer fit.
class Window {
 public:
  Window(const Config& config, std::span<const TokenId> prompt, Overflow overflow)
      : config_(config), overflow_(overflow), tokens_(prompt.begin(), prompt.end()) {}

  [[nodiscard]] std::span<const TokenId> tokens() const { return tokens_; }
  void append(TokenId id) { tokens_.push_back(id); }
  [[nodiscard]] bool fits() const { return static_cast<std::int64_t>(tokens_.size()) <= config_.n_ctx; }

  /// Makes room where the policy allows it. Returns whether something was forgotten.
  bool slide() {
    if (fits() || overflow_ != Overflow::slide) return false;
    const auto first = tokens_.begin() + (keeps_first(config_, tokens_) ? 1 : 0);
    tokens_.erase(first, first + static_cast<std::ptrdiff_t>(forgotten_by_slide(config_, tokens_)));
    return true;
  }

 private:
  const Config& config_;
  Overflow overflow_;
  std::vector<TokenId> tokens_;
};

void check_room(const Config& config, std::span<const TokenId> prompt, const GenerateOptions& options) {
  const auto length = static_cast<std::int64_t>(prompt.size());
  if (length == 0) throw Error(ErrorCode::input, "prompt: expected at least one token, found none");
  check_ids(config, prompt);
  if (options.overflow == Overflow::slide) return;
  if (length > config.n_ctx)
    throw Error(ErrorCode::input, fmt::format("prompt: expected at most {} tokens (the model's context), found {}",
                                              config.n_ctx, length));
  // The last new token is not run, so it needs no place.
  if (options.overflow == Overflow::error && options.max_new_tokens - 1 > config.n_ctx - length)
    throw Error(ErrorCode::input,
                fmt::format("prompt: expected {} tokens and {} new ones to fit the model's context of {}", length,
                            options.max_new_tokens, config.n_ctx));
}

/// Runs what has to be run and returns the logits of the last position, [V].
std::span<const float> step(Session& session, std::span<const TokenId> tokens, bool cache, Observer* observer) {
  if (!cache) session.rewind(0);  // the plain loop: every q, k and v again
  const auto fresh = tokens.subspan(static_cast<std::size_t>(session.length()));
  const auto logits = session.forward(fresh, Rows::last, observer).row(0);
  require_finite(logits, session, tokens);
  return logits;
}

bool is_end(const Config& config, TokenId id) {
  return std::find(config.eos.begin(), config.eos.end(), id) != config.eos.end();
}

class Stopwatch {
 public:
  [[nodiscard]] double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::eos:
      return "eos";
    case StopReason::stop:
      return "stop";
    case StopReason::length:
      return "length";
    case StopReason::context:
      return "context";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "?";
}

std::int64_t forgotten_by_slide(const Config& config, std::span<const TokenId> text) {
  const auto length = static_cast<std::int64_t>(text.size());
  if (length <= config.n_ctx) return 0;
  return length - std::max<std::int64_t>(config.n_ctx / 2, 1) - (keeps_first(config, text) ? 1 : 0);
}

Generation generate(Session& session, std::span<const TokenId> prompt, Sampler& sampler, const GenerateOptions& options,
                    const OnToken& on_token, Observer* observer) {
  const auto& config = session.model().config();
  check_room(config, prompt, options);
  session.rewind(0);
  const auto length = std::min(config.n_ctx, static_cast<std::int64_t>(prompt.size()));
  constexpr std::int64_t at_once = 256;  // more is made room for when it comes: the text may end long before
  session.reserve(length +
                  std::clamp<std::int64_t>(options.max_new_tokens, 0, std::min(at_once, config.n_ctx - length)));
  Window window(config, prompt, options.overflow);
  std::vector<TokenId> history(prompt.begin(), prompt.end());
  Generation result;
  Stopwatch watch;
  for (std::int64_t index = 0; index < options.max_new_tokens; ++index) {
    if (window.slide()) session.rewind(0);
    if (!window.fits()) {
      result.reason = StopReason::context;
      break;
    }
    const auto logits = step(session, window.tokens(), options.cache, observer);
    ++result.steps;
    const auto id = sampler.choose(logits, history);
    (index == 0 ? result.first_seconds : result.rest_seconds) += watch.lap();
    if (!options.ignore_eos && is_end(config, id)) {
      result.reason = StopReason::eos;
      break;
    }
    window.append(id);
    history.push_back(id);
    result.ids.push_back(id);
    const auto next = on_token({index, id, logits});
    if (next != Next::go_on) {
      result.reason = next == Next::stop ? StopReason::stop : StopReason::interrupted;
      break;
    }
  }
  return result;
}

}  // namespace qkv
