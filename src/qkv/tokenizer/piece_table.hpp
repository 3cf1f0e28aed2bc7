#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/tokenizer/scored_pieces.hpp"
#include "qkv/tokenizer/vocabulary.hpp"

namespace qkv::tokenizing {

/// Scored pieces as the models that use them need them: checked, and found by their spelling.
class PieceTable {
 public:
  /// `unknown` may be Vocabulary::none. Throws Error{model} that begins with `where` when a piece comes twice, a score
  /// is no finite number, or a piece of kind byte is not spelled "<0x00>" to "<0xFF>".
  PieceTable(const ScoredPieces& pieces, TokenId unknown, const std::string& where);

  /// The piece spelled `text` that text may be cut into: normal, user-defined or unused; else `none`.
  [[nodiscard]] TokenId find(std::string_view text) const;
  [[nodiscard]] float score(TokenId id) const { return scores_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] PieceKind kind(TokenId id) const { return kinds_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] TokenId unknown() const { return unknown_; }
  [[nodiscard]] bool has_bytes() const { return has_bytes_; }
  [[nodiscard]] bool has_kind(PieceKind kind) const;
  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }
  /// The pieces of kind user_defined.
  [[nodiscard]] const std::vector<TokenId>& user_defined() const { return user_defined_; }

  /// Appends what stands for `character`, which is no piece: its bytes, or the unknown piece unless `ids` ends with it
  /// at or after `begin`, or nothing.
  void append_unknown(std::string_view character, std::size_t begin, std::vector<TokenId>& ids) const;

 private:
  Vocabulary vocabulary_;
  std::vector<float> scores_;
  std::vector<PieceKind> kinds_;
  std::vector<TokenId> user_defined_;
  std::array<TokenId, 256> bytes_{};
  std::size_t longest_ = 0;
  TokenId unknown_;
  bool has_bytes_ = false;
};

/// The byte that a piece like "<0x41>" stands for, or -1.
[[nodiscard]] int byte_of_piece(std::string_view piece);

}  // namespace qkv::tokenizing
