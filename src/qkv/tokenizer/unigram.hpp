#pragma once

#include <memory>

#include "qkv/tokenizer/token_model.hpp"

namespace qkv::tokenizing {

/// The pieces whose probabilities have the largest product. Characters that are no piece are unknown; several in a row
/// become their bytes ("<0x41>") together where "byte_fallback" is on and the vocabulary has them all, else one unknown
/// token. Throws Error{model} as make_token_model() does.
[[nodiscard]] std::unique_ptr<const TokenModel> make_unigram(const JsonReader& object, TokenizerDocument& document);

}  // namespace qkv::tokenizing
