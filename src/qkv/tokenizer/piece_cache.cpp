#include "qkv/tokenizer/piece_cache.hpp"

#include "qkv/tokenizer/hash.hpp"

namespace qkv::tokenizing {
namespace {

constexpr std::size_t n_slots_at_first = 256;
constexpr std::size_t max_pieces = std::size_t{1} << 18U;

}  // namespace

PieceCache::PieceCache() : slots_(n_slots_at_first) {}

std::optional<std::span<const TokenId>> PieceCache::find(std::string_view piece) const {
  const auto hash = hash_of(piece);
  const auto mask = slots_.size() - 1;
  for (auto at = hash & mask; slots_[at].text_length != 0; at = (at + 1) & mask) {
    const auto& slot = slots_[at];
    if (slot.hash == hash && std::string_view(texts_).substr(slot.text_begin, slot.text_length) == piece)
      return std::span(ids_).subspan(slot.ids_begin, slot.n_ids);
  }
  return std::nullopt;
}

void PieceCache::insert(std::string_view piece, std::span<const TokenId> ids) {
  if (n_pieces_ >= max_pieces || piece.empty()) return;
  if (2 * (n_pieces_ + 1) > slots_.size()) {
    const auto old = std::move(slots_);
    slots_.assign(2 * old.size(), Slot{});
    for (const auto& slot : old)
      if (slot.text_length != 0) place(slot);
  }
  place({hash_of(piece), static_cast<std::uint32_t>(texts_.size()), static_cast<std::uint32_t>(ids_.size()),
         static_cast<std::uint32_t>(piece.size()), static_cast<std::uint32_t>(ids.size())});
  ++n_pieces_;
  texts_.append(piece);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
}

void PieceCache::place(const Slot& slot) {
  const auto mask = slots_.size() - 1;
  auto at = slot.hash & mask;
  while (slots_[at].text_length != 0) at = (at + 1) & mask;
  slots_[at] = slot;
}

}  // namespace qkv::tokenizing
