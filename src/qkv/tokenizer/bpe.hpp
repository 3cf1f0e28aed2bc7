#pragma once

#include <memory>

#include "qkv/tokenizer/token_model.hpp"

namespace qkv::tokenizing {

/// Byte-pair encoding: each character is a token at first, and neighbours are joined by the merge of the lowest rank
/// that applies, until none does. Characters that the vocabulary lacks become their bytes ("<0x41>") when
/// "byte_fallback" is on, else the unknown token; where there is none of the two they leave nothing, as in the
/// library that defines the format. Throws Error{model} as make_token_model() does.
[[nodiscard]] std::unique_ptr<const TokenModel> make_bpe(const JsonReader& object, TokenizerDocument& document);

}  // namespace qkv::tokenizing
