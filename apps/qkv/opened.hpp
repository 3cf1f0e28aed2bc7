#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model_options.hpp"
#include "prompt_options.hpp"
#include "qkv/inspect/table.hpp"
#include "qkv/model/model.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv::app {

/// A model, the tokenizer beside it, and a prompt: what most commands begin with.
struct Opened {
  std::optional<Tokenizer> tokenizer;
  Model model;
  std::vector<TokenId> prompt;

  [[nodiscard]] const Tokenizer* vocabulary() const { return tokenizer ? &*tokenizer : nullptr; }
  /// The bytes a token stands for; its number where there is no tokenizer, or the tokenizer does not know it.
  [[nodiscard]] std::string text_of(TokenId id) const;
  [[nodiscard]] std::vector<TokenLabel> labels(std::span<const TokenId> ids) const;
};

/// Opens all three. Where the text is empty the model's begin token stands in, if it has one and --bos allows it.
/// Throws Error{input} for ids that the model does not have.
[[nodiscard]] Opened open(const ModelOptions& model, const PromptOptions& prompt);

}  // namespace qkv::app
