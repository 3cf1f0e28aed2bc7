#include "qkv/tokenizer/piece_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/core/error.hpp"
#include "qkv/core/hexadecimal.hpp"
#include "qkv/tokenizer/component.hpp"

namespace qkv::tokenizing {
namespace {

constexpr auto none = Vocabulary::none;

Vocabulary vocabulary_of(const ScoredPieces& pieces, const std::string& where) {
  if (pieces.size() > static_cast<std::size_t>(max_token_id))
    throw Error(ErrorCode::model,
                fmt::format("{}: expected at most {} pieces, found {}", where, max_token_id, pieces.size()));
  VocabularyEntries entries;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    entries.pieces.push_back(pieces[i].text);
    entries.ids.push_back(static_cast<TokenId>(i));
  }
  return {std::move(entries), where};
}

}  // namespace

int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece.back() != '>') return -1;
  const int high = hex_digit(piece[3]);
  const int low = hex_digit(piece[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

PieceTable::PieceTable(const ScoredPieces& pieces, TokenId unknown, const std::string& where)
    : vocabulary_(vocabulary_of(pieces, where)), unknown_(unknown) {
  bytes_.fill(none);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = pieces[i];
    const auto id = static_cast<TokenId>(i);
    const auto refuse = [&](std::string_view expected, const std::string& found) {
      throw Error(ErrorCode::model, fmt::format("{}: piece {}: expected {}, found {}", where, i, expected, found));
    };
    if (!std::isfinite(piece.score)) refuse("a finite score", fmt::format("{}", piece.score));
    scores_.push_back(piece.score);
    kinds_.push_back(piece.kind);
    if (piece.kind == PieceKind::byte) {
      const int byte = byte_of_piece(piece.text);
      if (byte < 0) refuse("a byte, spelled <0x00> to <0xFF>", in_quotes(piece.text));
      bytes_[static_cast<std::size_t>(byte)] = id;
      has_bytes_ = true;
    } else if (piece.kind == PieceKind::user_defined) {
      user_defined_.push_back(id);
    }
    longest_ = std::max(longest_, piece.text.size());
  }
}

TokenId PieceTable::find(std::string_view text) const {
  if (text.size() > longest_) return none;
  const auto id = vocabulary_.find(text);
  if (id == none || id == unknown_) return none;
  const auto found = kind(id);
  const bool is_text = found == PieceKind::normal || found == PieceKind::user_defined || found == PieceKind::unused;
  return is_text ? id : none;
}

bool PieceTable::has_kind(PieceKind kind) const {
  return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
}

void PieceTable::append_unknown(std::string_view character, std::size_t begin, std::vector<TokenId>& ids) const {
  const auto byte_id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (std::all_of(character.begin(), character.end(), [&](char byte) { return byte_id(byte) != none; })) {
    for (const char byte : character) ids.push_back(byte_id(byte));
  } else if (unknown_ != none && (ids.size() <= begin || ids.back() != unknown_)) {
    ids.push_back(unknown_);
  }
}

}  // namespace qkv::tokenizing
