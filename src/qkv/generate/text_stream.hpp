#pragma once

#include <span>
#include <string>
#include <vector>

#include "qkv/core/utf8.hpp"
#include "qkv/generate/stop_matcher.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv {

/// Token ids to text as they come: whole characters only, nothing of a stop text, and in the end every byte.
class TextStream {
 public:
  /// Returns nothing to show for the prompt, but how a token reads can depend on what stands before it.
  TextStream(const Tokenizer& tokenizer, std::span<const TokenId> prompt, std::vector<std::string> stops)
      : decoder_(tokenizer), matcher_(std::move(stops)) {
    for (const auto id : prompt) prompt_text_ += decoder_.push(id);
  }

  [[nodiscard]] const std::string& prompt_text() const { return prompt_text_; }
  [[nodiscard]] bool stopped() const { return matcher_.found(); }

  [[nodiscard]] std::string push(TokenId id) {
    pending_ += matcher_.push(decoder_.push(id));
    const auto whole = stopped() ? pending_.size() : whole_characters(pending_);
    auto shown = pending_.substr(0, whole);
    pending_.erase(0, whole);
    return shown;
  }

  /// What was held: a character that never became whole, the beginning of a stop text that did not come.
  [[nodiscard]] std::string finish() {
    pending_ += matcher_.push(decoder_.finish());
    return pending_ + matcher_.finish();
  }

 private:
  StreamDecoder decoder_;
  StopMatcher matcher_;
  std::string prompt_text_;
  std::string pending_;  // the bytes of a character that is not whole yet
};

}  // namespace qkv
