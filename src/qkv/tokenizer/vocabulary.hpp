#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/core/token_id.hpp"

namespace qkv::tokenizing {

/// The largest id that a token may have, so that one more is still a TokenId.
constexpr TokenId max_token_id = 0x7FFFFFFE;

/// A list of strings in one block of memory.
class PieceList {
 public:
  void push_back(std::string_view piece) {
    bytes_.append(piece);
    ends_.push_back(bytes_.size());
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    const auto begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

/// Pieces and their ids, piece i with id i of the two lists.
struct VocabularyEntries {
  PieceList pieces;
  std::vector<TokenId> ids;
};

/// Finds a token's id by its piece and its piece by its id. Ids need not be dense: memory depends on how many tokens
/// there are, never on how large an id is.
class Vocabulary {
 public:
  static constexpr TokenId none = -1;

  Vocabulary() : Vocabulary(VocabularyEntries{}, "") {}
  /// Throws Error{model} that begins with `where` when a piece or an id comes twice.
  Vocabulary(VocabularyEntries entries, const std::string& where);

  /// The id of `piece`, or `none`.
  [[nodiscard]] TokenId find(std::string_view piece) const;
  [[nodiscard]] std::optional<std::string_view> piece(TokenId id) const;
  [[nodiscard]] std::size_t size() const { return entries_.ids.size(); }
  /// `none` when there is no token.
  [[nodiscard]] TokenId max_id() const { return by_id_.empty() ? none : by_id_.back().first; }
  /// In the order of the file.
  [[nodiscard]] const VocabularyEntries& entries() const { return entries_; }

 private:
  struct Slot {
    std::uint32_t hash;
    std::uint32_t index;  // of the entry, plus one; 0 is an empty slot
  };
  void index_pieces(const std::string& where);
  void index_ids(const std::string& where);

  VocabularyEntries entries_;
  std::vector<Slot> slots_;
  std::vector<std::pair<TokenId, std::uint32_t>> by_id_;  // sorted
};

}  // namespace qkv::tokenizing
