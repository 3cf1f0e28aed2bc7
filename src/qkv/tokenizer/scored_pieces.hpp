#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/core/token_id.hpp"

namespace qkv {

/// What a piece of a SentencePiece vocabulary is for. The numbers are those that its files write.
enum class PieceKind {
  normal = 1,
  unknown = 2,       // stands for text that no piece spells
  control = 3,       // says something about the text ("<s>"), and is never made from it
  user_defined = 4,  // found in the text before anything else, and never joined
  unused = 5,        // may be joined from others on the way to a longer one, and is taken apart again
  byte = 6,          // one byte, spelled "<0x41>"
};

struct ScoredPiece {
  std::string text;
  float score = 0;
  PieceKind kind = PieceKind::normal;
};

/// Pieces whose ids are their places in the list.
using ScoredPieces = std::vector<ScoredPiece>;

enum class PieceModel { bpe, unigram };

/// What a file of scored pieces says besides the pieces.
struct PieceOptions {
  PieceModel model = PieceModel::bpe;
  std::optional<TokenId> bos = {};
  std::optional<TokenId> eos = {};
  /// When absent, the piece of that kind, if there is one.
  std::optional<TokenId> unknown = {};
  /// Whether the tokenizer's own rule puts these around the text.
  bool add_bos = true;
  bool add_eos = false;
  /// Whether text is read as if a space stood before it; decoding takes that space away again.
  bool add_dummy_prefix = true;
  /// Whether pieces spell a space as U+2581.
  bool escape_spaces = true;
  /// Whether spaces are left out at both ends of the text, and of several in a row all but one.
  bool remove_extra_spaces = false;
  /// SentencePiece's compiled rules for characters ("precompiled_charsmap", its bytes); empty where text stays as it
  /// is.
  std::string charsmap = {};
};

}  // namespace qkv
