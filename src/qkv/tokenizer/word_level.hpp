#pragma once

#include <memory>

#include "qkv/tokenizer/token_model.hpp"

namespace qkv::tokenizing {

/// Each piece is one token, known or unknown. Throws Error{model} as make_token_model() does.
[[nodiscard]] std::unique_ptr<const TokenModel> make_word_level(const JsonReader& object, TokenizerDocument& document);

/// The longest tokens, from left to right, with a prefix for those inside a word; or the unknown token for the whole.
[[nodiscard]] std::unique_ptr<const TokenModel> make_word_piece(const JsonReader& object, TokenizerDocument& document);

}  // namespace qkv::tokenizing
