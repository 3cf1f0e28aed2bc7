#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/tokenizer/hash.hpp"

namespace qkv::tokenizing {

/// What two neighbours become, and how early: packed so that the smaller number is the merge that comes first.
class Merge {
 public:
  constexpr Merge() = default;  // no merge; comes after all others
  constexpr Merge(std::uint32_t rank, TokenId made)
      : packed_((std::uint64_t{rank} << 32U) | static_cast<std::uint32_t>(made)) {}

  [[nodiscard]] constexpr std::uint32_t rank() const { return static_cast<std::uint32_t>(packed_ >> 32U); }
  [[nodiscard]] constexpr TokenId made() const { return static_cast<TokenId>(packed_ & 0xFFFFFFFFU); }
  [[nodiscard]] constexpr bool exists() const { return packed_ != absent; }
  friend constexpr bool operator==(Merge a, Merge b) { return a.packed_ == b.packed_; }
  friend constexpr bool operator<(Merge a, Merge b) { return a.packed_ < b.packed_; }

 private:
  static constexpr std::uint64_t absent = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t packed_ = absent;
};

/// The merges of a vocabulary by the two tokens that they join.
class MergeTable {
 public:
  explicit MergeTable(std::size_t n_merges) : slots_(table_size(n_merges)) {}

  /// Of two merges of the same pair the later one counts.
  void add(TokenId left, TokenId right, Merge merge);

  [[nodiscard]] Merge find(TokenId left, TokenId right) const {
    const auto key = key_of(left, right);
    const auto mask = slots_.size() - 1;
    auto at = mix(key) & mask;
    while (slots_[at].key != key && slots_[at].key != no_key) at = (at + 1) & mask;
    return slots_[at].merge;
  }

 private:
  static constexpr std::uint64_t no_key = std::numeric_limits<std::uint64_t>::max();
  struct Slot {
    std::uint64_t key = no_key;
    Merge merge;
  };
  static std::uint64_t key_of(TokenId left, TokenId right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) | static_cast<std::uint32_t>(right);
  }

  std::vector<Slot> slots_;
};

/// Joins neighbours in `tokens` until no merge applies: always the merge of the lowest rank that applies anywhere, and
/// of equal ones the leftmost. Takes O(n log n) steps for n tokens.
void apply_merges(const MergeTable& table, std::vector<TokenId>& tokens);

}  // namespace qkv::tokenizing
