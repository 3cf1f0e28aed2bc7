#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/parts.hpp"
#include "qkv/tokenizer/proto_reader.hpp"

namespace qkv {
namespace {

using tokenizing::in_quotes;
using tokenizing::ProtoReader;

/// A SentencePiece model: what its file says, with the values that stand for what it leaves out. Field numbers are
/// those of sentencepiece_model.proto.
struct SentencePieceFile {
  ScoredPieces pieces;
  PieceOptions options{.add_bos = false, .remove_extra_spaces = true};
  std::int64_t model_type = 1;
  bool byte_fallback = false;
  std::string bos_piece = "<s>";
  std::string eos_piece = "</s>";
};

ScoredPiece read_piece(ProtoReader message) {
  ScoredPiece piece;
  while (message.next()) {
    if (message.number() == 1) piece.text = message.bytes();
    if (message.number() == 2) piece.score = message.real();
    if (message.number() != 3) continue;
    const auto kind = message.integer();
    if (kind < 1 || kind > 6) message.refuse("a kind of piece, 1 to 6", fmt::format("{}", kind));
    piece.kind = static_cast<PieceKind>(kind);
  }
  return piece;
}

void read_trainer_spec(ProtoReader message, SentencePieceFile& file) {
  while (message.next()) {
    switch (message.number()) {
      case 3:
        file.model_type = message.integer();
        break;
      case 24:
        if (message.boolean()) message.refuse("spaces before words (treat_whitespace_as_suffix no)", "yes");
        break;
      case 35:
        file.byte_fallback = message.boolean();
        break;
      case 46:
        file.bos_piece = message.bytes();
        break;
      case 47:
        file.eos_piece = message.bytes();
        break;
      default:;  // how the model was trained
    }
  }
}

void read_normalizer_spec(ProtoReader message, PieceOptions& options) {
  while (message.next()) {
    switch (message.number()) {
      case 2:
        options.charsmap = message.bytes();
        break;
      case 3:
        options.add_dummy_prefix = message.boolean();
        break;
      case 4:
        options.remove_extra_spaces = message.boolean();
        break;
      case 5:
        options.escape_spaces = message.boolean();
        break;
      default:;  // its name, and the rules before they were compiled
    }
  }
}

void refuse_denormalizer(ProtoReader message) {
  while (message.next())
    if (message.number() == 2 && !message.bytes().empty())
      message.refuse("no rules for decoding (denormalizer_spec)", fmt::format("{} bytes", message.bytes().size()));
}

SentencePieceFile read_file(std::string_view bytes, const std::string& where) {
  SentencePieceFile file;
  ProtoReader message(bytes, where);
  while (message.next()) {
    switch (message.number()) {
      case 1:
        file.pieces.push_back(read_piece(message.message()));
        break;
      case 2:
        read_trainer_spec(message.message(), file);
        break;
      case 3:
        read_normalizer_spec(message.message(), file.options);
        break;
      case 4:
        break;  // samples that its own tests check
      case 5:
        refuse_denormalizer(message.message());
        break;
      default:
        message.refuse("a field of a SentencePiece model, 1 to 5", fmt::format("{}", message.number()));
    }
  }
  return file;
}

std::optional<TokenId> find_control(const ScoredPieces& pieces, std::string_view text) {
  const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const auto& piece) {
    return piece.kind == PieceKind::control && piece.text == text;
  });
  if (found == pieces.end()) return std::nullopt;
  return static_cast<TokenId>(found - pieces.begin());
}

PieceModel read_model_type(const SentencePieceFile& file, const std::string& where) {
  if (file.model_type == 1) return PieceModel::unigram;
  if (file.model_type == 2) return PieceModel::bpe;
  throw Error(ErrorCode::model,
              fmt::format("{}: model_type: expected 1 (unigram) or 2 (BPE), found {}{}", where, file.model_type,
                          file.model_type == 3   ? " (words)"
                          : file.model_type == 4 ? " (characters)"
                                                 : ""));
}

void check_bytes(const SentencePieceFile& file, const std::string& where) {
  const auto n_bytes = std::count_if(file.pieces.begin(), file.pieces.end(),
                                     [](const auto& piece) { return piece.kind == PieceKind::byte; });
  const auto expected = file.byte_fallback ? 256 : 0;
  if (n_bytes != expected)
    throw Error(ErrorCode::model, fmt::format("{}: byte_fallback is {}: expected {} pieces for bytes, found {}", where,
                                              file.byte_fallback ? "on" : "off", expected, n_bytes));
}

}  // namespace

std::unique_ptr<Tokenizer::Parts> Tokenizer::Parts::from_sentencepiece(std::string_view bytes,
                                                                       const std::string& where) {
  auto file = read_file(bytes, where);
  check_bytes(file, where);
  const auto n_unknown = std::count_if(file.pieces.begin(), file.pieces.end(),
                                       [](const auto& piece) { return piece.kind == PieceKind::unknown; });
  if (n_unknown != 1)
    throw Error(ErrorCode::model, fmt::format("{}: expected one unknown piece, found {}", where, n_unknown));
  file.options.model = read_model_type(file, where);
  file.options.bos = find_control(file.pieces, file.bos_piece);
  file.options.eos = find_control(file.pieces, file.eos_piece);
  auto parts = from_pieces(file.pieces, file.options, where);
  // Whether a text begins with a begin token, this file does not say.
  parts->post_processor.reset();
  return parts;
}

}  // namespace qkv
