#pragma once

#include <memory>

#include "qkv/tokenizer/decoder.hpp"

namespace qkv::tokenizing {

/// Tokens with a space between, save those that begin with "prefix"; "cleanup" takes away the space before punctuation
/// and in English contractions. Throws Error{model} as make_decoder() does, like the next.
[[nodiscard]] std::unique_ptr<const Decoder> make_word_piece_decoder(const JsonReader& object);

/// Tokens whose "suffix" marks the end of a word: a space, but at the end of the text.
[[nodiscard]] std::unique_ptr<const Decoder> make_bpe_decoder(const JsonReader& object);

}  // namespace qkv::tokenizing
