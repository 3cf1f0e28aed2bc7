#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/io/json_reader.hpp"
#include "qkv/tokenizer/tokenizer_document.hpp"

namespace qkv::tokenizing {

/// Turns pieces into ids. One run belongs to one encode, and may remember pieces that come again.
class TokenModelRun {
 public:
  virtual ~TokenModelRun() = default;
  virtual void encode(std::string_view piece, std::vector<TokenId>& ids) = 0;
};

/// The part of a tokenizer that owns the vocabulary.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  [[nodiscard]] virtual std::unique_ptr<TokenModelRun> start() const = 0;
  [[nodiscard]] virtual const Vocabulary& vocabulary() const = 0;
  /// What the model is, for people: "BPE" or "BPE with byte fallback".
  [[nodiscard]] virtual std::string_view name() const = 0;
};

/// The model under "model" of a tokenizer file, whose tables are moved out of `document`. Throws Error{model} naming
/// file, key and what is not understood.
[[nodiscard]] std::unique_ptr<const TokenModel> make_token_model(const JsonReader& object, TokenizerDocument& document);

}  // namespace qkv::tokenizing
