#include <fmt/format.h>

#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/parts.hpp"
#include "qkv/tokenizer/piece_bpe.hpp"
#include "qkv/tokenizer/piece_normalizer.hpp"
#include "qkv/tokenizer/piece_unigram.hpp"

namespace qkv {
namespace {

using nlohmann::json;
using tokenizing::AddedToken;
using tokenizing::Vocabulary;

constexpr auto mark = "\u2581";  // spells a space

[[noreturn]] void refuse(const std::string& where, std::string_view key, std::string_view expected,
                         const std::string& found) {
  throw Error(ErrorCode::model, fmt::format("{}: key '{}': expected {}, found {}", where, key, expected, found));
}

void check_id(const std::string& where, std::string_view key, std::optional<TokenId> id, std::size_t n_pieces) {
  if (id && (*id < 0 || static_cast<std::size_t>(*id) >= n_pieces))
    refuse(where, key, fmt::format("an id from 0 to {}", n_pieces - 1), fmt::format("{}", *id));
}

TokenId find_unknown(const ScoredPieces& pieces, const PieceOptions& options) {
  if (options.unknown) return *options.unknown;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].kind == PieceKind::unknown) return static_cast<TokenId>(i);
  return Vocabulary::none;
}

/// The pieces that text becomes only where it may spell special tokens.
std::vector<AddedToken> special_pieces(const ScoredPieces& pieces) {
  std::vector<AddedToken> tokens;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = pieces[i];
    const bool is_special = piece.kind == PieceKind::control || piece.kind == PieceKind::unknown;
    if (is_special && !piece.text.empty())
      tokens.push_back({piece.text, static_cast<TokenId>(i), true, false, false, false, false});
  }
  return tokens;
}

json decoder_of(const ScoredPieces& pieces, const PieceOptions& options) {
  auto parts = json::array();
  if (options.escape_spaces) parts.push_back({{"type", "Replace"}, {"pattern", {{"String", mark}}}, {"content", " "}});
  for (const auto& piece : pieces) {
    if (piece.kind != PieceKind::byte) continue;
    parts.push_back({{"type", "ByteFallback"}});
    break;
  }
  parts.push_back({{"type", "Fuse"}});
  // What was put in front is taken away; where there are no other spaces in front, all are.
  const int most = options.remove_extra_spaces ? 1'000'000 : 1;
  if (options.add_dummy_prefix || options.remove_extra_spaces)
    parts.push_back({{"type", "Strip"}, {"content", " "}, {"start", most}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", parts}};
}

std::vector<TokenId> added_id(const std::string& where, std::string_view key, bool add, std::optional<TokenId> id) {
  if (!add) return {};
  if (!id) refuse(where, key, "no, where there is no such token", "yes");
  return {*id};
}

}  // namespace

std::unique_ptr<Tokenizer::Parts> Tokenizer::Parts::from_pieces(const ScoredPieces& pieces, const PieceOptions& options,
                                                                const std::string& where) {
  using namespace tokenizing;
  if (pieces.empty()) throw Error(ErrorCode::model, fmt::format("{}: expected at least one piece, found none", where));
  check_id(where, "bos", options.bos, pieces.size());
  check_id(where, "eos", options.eos, pieces.size());
  check_id(where, "unknown", options.unknown, pieces.size());
  auto parts = std::make_unique<Parts>();
  parts->bos = options.bos;
  parts->eos = options.eos;
  PieceTable table(pieces, find_unknown(pieces, options), where);
  ByteTrie::Strings untouched;
  for (const auto id : table.user_defined()) untouched.emplace_back(pieces[static_cast<std::size_t>(id)].text, id);
  parts->normalizer = make_piece_normalizer(options, ByteTrie(std::move(untouched)), where);
  parts->model =
      options.model == PieceModel::bpe ? make_piece_bpe(std::move(table)) : make_piece_unigram(std::move(table));
  parts->added = AddedTokens(special_pieces(pieces), parts->model->vocabulary(), parts->normalizer.get(), where);
  parts->post_processor = make_surrounding_post_processor(added_id(where, "add_bos", options.add_bos, options.bos),
                                                          added_id(where, "add_eos", options.add_eos, options.eos));
  parts->decoder = make_decoder({where, decoder_of(pieces, options)});
  return parts;
}

}  // namespace qkv
