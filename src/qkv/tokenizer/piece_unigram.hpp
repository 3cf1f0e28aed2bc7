#pragma once

#include <memory>

#include "qkv/tokenizer/piece_table.hpp"
#include "qkv/tokenizer/token_model.hpp"

namespace qkv::tokenizing {

/// The pieces whose probabilities have the largest product, as SentencePiece finds them: sums of scores are 32-bit, and
/// user-defined pieces always win. Unknown characters become what make_piece_bpe() makes of them.
[[nodiscard]] std::unique_ptr<const TokenModel> make_piece_unigram(PieceTable pieces);

}  // namespace qkv::tokenizing
