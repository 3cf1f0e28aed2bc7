#include "qkv/tokenizer/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/hash.hpp"

namespace qkv::tokenizing {

Vocabulary::Vocabulary(VocabularyEntries entries, const std::string& where) : entries_(std::move(entries)) {
  if (size() >= std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorCode::model, fmt::format("{}: expected fewer than 2^32 tokens, found {}", where, size()));
  index_pieces(where);
  index_ids(where);
}

void Vocabulary::index_pieces(const std::string& where) {
  slots_.resize(table_size(size()));
  const auto mask = slots_.size() - 1;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const auto piece = entries_.pieces[i];
    const auto hash = hash_of(piece);
    auto at = hash & mask;
    for (; slots_[at].index != 0; at = (at + 1) & mask)
      if (slots_[at].hash == static_cast<std::uint32_t>(hash >> 32U) && entries_.pieces[slots_[at].index - 1] == piece)
        throw Error(ErrorCode::model,
                    fmt::format("{}: expected each piece once, found {} twice, with ids {} and {}", where,
                                in_quotes(piece), entries_.ids[slots_[at].index - 1], entries_.ids[i]));
    slots_[at] = {static_cast<std::uint32_t>(hash >> 32U), i + 1};
  }
}

void Vocabulary::index_ids(const std::string& where) {
  by_id_.reserve(size());
  for (std::uint32_t i = 0; i < size(); ++i) by_id_.emplace_back(entries_.ids[i], i);
  // Files are often in the order of ids already.
  if (!std::is_sorted(by_id_.begin(), by_id_.end())) std::sort(by_id_.begin(), by_id_.end());
  const auto twice =
      std::adjacent_find(by_id_.begin(), by_id_.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != by_id_.end())
    throw Error(ErrorCode::model, fmt::format("{}: expected each id once, found id {} for {} and {}", where,
                                              twice->first, in_quotes(entries_.pieces[twice->second]),
                                              in_quotes(entries_.pieces[std::next(twice)->second])));
}

TokenId Vocabulary::find(std::string_view piece) const {
  const auto hash = hash_of(piece);
  const auto mask = slots_.size() - 1;
  for (auto at = hash & mask; slots_[at].index != 0; at = (at + 1) & mask) {
    const auto index = slots_[at].index - 1;
    if (slots_[at].hash == static_cast<std::uint32_t>(hash >> 32U) && entries_.pieces[index] == piece)
      return entries_.ids[index];
  }
  return none;
}

std::optional<std::string_view> Vocabulary::piece(TokenId id) const {
  // Where ids are dense, the id is the place.
  const auto place = static_cast<std::size_t>(id);
  if (id >= 0 && place < by_id_.size() && by_id_[place].first == id) return entries_.pieces[by_id_[place].second];
  const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                      [](const auto& entry, TokenId wanted) { return entry.first < wanted; });
  if (found == by_id_.end() || found->first != id) return std::nullopt;
  return entries_.pieces[found->second];
}

}  // namespace qkv::tokenizing
