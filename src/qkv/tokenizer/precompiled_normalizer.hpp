#pragma once

#include <memory>

#include "qkv/tokenizer/normalizer.hpp"

namespace qkv::tokenizing {

/// SentencePiece's rules as tokenizer files hold them, in Base64 under "precompiled_charsmap". Throws Error{model}
/// naming file and key when that is no such thing.
[[nodiscard]] std::unique_ptr<const Normalizer> make_precompiled_normalizer(const JsonReader& object);

}  // namespace qkv::tokenizing
