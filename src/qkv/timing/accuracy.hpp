#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "qkv/model/model.hpp"

namespace qkv {

/// What a lower precision does to the distribution of the next token, over all tokens of a text.
struct Accuracy {
  std::string text;                       // what was run, for people
  std::int64_t tokens = 0;                // compared
  double largest_logit_difference = 0.0;  // of all tokens and the whole vocabulary
  double largest_logit = 0.0;             // in size, of the exact ones
  double mean_kl = 0.0;                   // nats a token, see kl_divergence(exact, other)
  double largest_kl = 0.0;
  double same_choice = 0.0;       // share of tokens after which both hold the same token likeliest
  double exact_perplexity = 0.0;  // of the text, each token but the first of a window
  double perplexity = 0.0;
};

/// Runs `ids` through both models, in windows that stand alone, and compares the logits of every token. Both have the
/// same vocabulary. At least 2 ids; `go_on` is asked before each window, and what was compared by then is returned.
[[nodiscard]] Accuracy compare_accuracy(const Model& exact, const Model& other, std::span<const TokenId> ids,
                                        const std::function<bool()>& go_on);

/// Ids evenly drawn from the vocabulary, the same on every machine, for where there is no text: Knuth's multiplicative
/// hash of the position.
[[nodiscard]] std::vector<TokenId> some_ids(const Config& config, std::int64_t count);

}  // namespace qkv
