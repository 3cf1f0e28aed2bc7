#pragma once

#include <memory>
#include <string>

#include "qkv/tokenizer/scored_pieces.hpp"
#include "qkv/tokenizer/token_model.hpp"

namespace qkv::tokenizing {

/// Byte-pair encoding as SentencePiece does it: each character is a piece at first, and of all neighbours whose joined
/// spelling is a piece those of the highest score are joined, the leftmost of equal ones, until there are none.
/// Characters that are no piece become their bytes where the vocabulary has these, else the piece `unknown` (several in
/// a row become one), else nothing. `where` begins the message of the Error{model} for pieces that contradict.
[[nodiscard]] std::unique_ptr<const TokenModel> make_piece_bpe(const ScoredPieces& pieces, TokenId unknown,
                                                               const std::string& where);

}  // namespace qkv::tokenizing
