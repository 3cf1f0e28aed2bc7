#pragma once

#include <memory>
#include <string>

#include "qkv/tokenizer/byte_trie.hpp"
#include "qkv/tokenizer/normalizer.hpp"
#include "qkv/tokenizer/scored_pieces.hpp"

namespace qkv::tokenizing {

/// What SentencePiece does to a text first: its compiled rules, superfluous spaces left out, a space in front, and each
/// space written as U+2581, all as `options` say. What `untouched` holds is left alone. `where` begins the message of
/// the Error{model} for rules that are none.
[[nodiscard]] std::unique_ptr<const Normalizer> make_piece_normalizer(const PieceOptions& options, ByteTrie untouched,
                                                                      const std::string& where);

}  // namespace qkv::tokenizing
