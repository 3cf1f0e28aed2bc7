#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/core/token_id.hpp"

namespace qkv::tokenizing {

/// Remembers the ids of pieces: words come again and again. Stops taking in new ones when it is large.
class PieceCache {
 public:
  /// Longer pieces seldom come twice.
  static constexpr std::size_t longest_piece = 64;

  PieceCache();
  /// The ids of `piece`, until the next insert.
  [[nodiscard]] std::optional<std::span<const TokenId>> find(std::string_view piece) const;
  /// `piece` must not be there.
  void insert(std::string_view piece, std::span<const TokenId> ids);

 private:
  struct Slot {
    std::uint64_t hash;
    std::uint32_t text_begin;
    std::uint32_t ids_begin;
    std::uint32_t text_length;  // 0: empty slot
    std::uint32_t n_ids;
  };
  void place(const Slot& slot);

  std::vector<Slot> slots_;
  std::size_t n_pieces_ = 0;
  std::string texts_;
  std::vector<TokenId> ids_;
};

}  // namespace qkv::tokenizing
