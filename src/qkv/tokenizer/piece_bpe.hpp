#pragma once

#include <memory>

#include "qkv/tokenizer/piece_table.hpp"
#include "qkv/tokenizer/token_model.hpp"

namespace qkv::tokenizing {

/// Byte-pair encoding as SentencePiece does it: each character is a piece at first, and of all neighbours whose joined
/// spelling is a piece those of the highest score are joined, the leftmost of equal ones, until there are none.
/// Characters that are no piece become their bytes where the vocabulary has these, else the piece `unknown` (several in
/// a row become one), else nothing.
[[nodiscard]] std::unique_ptr<const TokenModel> make_piece_bpe(PieceTable pieces);

}  // namespace qkv::tokenizing
