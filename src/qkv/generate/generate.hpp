#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/generate/sampler.hpp"
#include "qkv/model/session.hpp"

namespace qkv {

/// What to do when the text is longer than the model's context.
enum class Overflow {
  stop,   // end there
  slide,  // forget all but a begin token and the last half context, and go on
  error,  // refuse beforehand
};

enum class StopReason { eos, stop, length, context, interrupted };
[[nodiscard]] std::string_view name_of(StopReason reason);

/// How many tokens of a text Overflow::slide leaves out at once, 0 where the text fits.
[[nodiscard]] std::int64_t forgotten_by_slide(const Config& config, std::span<const TokenId> text);

struct GenerateOptions {
  std::int64_t max_new_tokens = 128;
  bool cache = false;       // keep keys and values; else every step runs the whole sequence again
  bool ignore_eos = false;  // an end token is a token like any other
  Overflow overflow = Overflow::stop;
};

/// One token as it comes. `logits` [V] are those it was chosen by, valid during the call only.
struct NewToken {
  std::int64_t index;  // from 0
  TokenId id;
  std::span<const float> logits;
};
/// What the receiver of a token wants next.
enum class Next { go_on, stop, interrupt };
using OnToken = std::function<Next(const NewToken&)>;

struct Generation {
  std::vector<TokenId> ids;  // the new tokens; an end token that ended it is not among them
  StopReason reason = StopReason::length;
  double first_seconds = 0.0;  // the first step, which runs the prompt
  double rest_seconds = 0.0;   // all further steps
  std::int64_t steps = 0;      // forward passes
};

/// Generates token by token: run the sequence, look at the logits of its last position, choose, append, and again. The
/// plain loop recomputes everything at each step; with `cache` only what is new is run, and the text is the same.
/// Throws Error{input} when the prompt does not fit the context (see Overflow), Error{numbers} naming the first layer
/// and place that is not finite when the logits are not.
[[nodiscard]] Generation generate(Session& session, std::span<const TokenId> prompt, Sampler& sampler,
                                  const GenerateOptions& options, const OnToken& on_token,
                                  Observer* observer = nullptr);

}  // namespace qkv
