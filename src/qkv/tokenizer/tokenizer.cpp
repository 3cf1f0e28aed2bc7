#include "qkv/tokenizer/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/formats/gguf.hpp"
#include "qkv/io/mapped_file.hpp"
#include "qkv/tokenizer/parts.hpp"

namespace qkv {

using tokenizing::AddedTokens;
using tokenizing::DecodeRun;

namespace tokenizing {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tokenizing

Tokenizer::Parts::Spelling Tokenizer::Parts::spelling(TokenId id) const {
  if (const auto* token = added.find(id)) return {token->content, true};
  if (const auto piece = model->vocabulary().piece(id)) return {*piece, false};
  throw Error(ErrorCode::input,
              fmt::format("token ids: expected ids of the vocabulary, 0 to {}, found {}", max_id(), id));
}

bool Tokenizer::Parts::is_special(TokenId id) const {
  const auto* token = added.find(id);
  return token != nullptr && token->special;
}

std::int64_t Tokenizer::Parts::max_id() const {
  std::int64_t max = model->vocabulary().max_id();
  for (const auto& token : added.all()) max = std::max<std::int64_t>(max, token.id);
  return max;
}

namespace {

/// A file that cannot be looked at is opened all the same, so that opening says why not.
bool may_exist(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) || error;
}

}  // namespace

std::optional<Tokenizer> Tokenizer::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return open_directory(path);
  if (!GgufFile::recognises(path)) return open_file(path);
  auto parts = Parts::from_gguf(*GgufFile::open(path));
  return parts ? std::optional(Tokenizer(std::move(parts))) : std::nullopt;
}

std::optional<Tokenizer> Tokenizer::open_directory(const std::filesystem::path& directory) {
  const auto whole = directory / "tokenizer.json";
  const auto vocabulary = directory / "vocab.json";
  const auto merges = directory / "merges.txt";
  const auto pieces = directory / "tokenizer.model";
  const auto config = directory / "tokenizer_config.json";
  std::unique_ptr<Parts> parts;
  bool from_model_file = false;
  if (may_exist(whole)) {
    const MappedFile file(whole);
    parts = Parts::from_json(tokenizing::text_of(file.bytes()), whole.string());
  } else if (may_exist(vocabulary) && may_exist(merges)) {
    parts = Parts::from_gpt2_files(vocabulary, merges);
  } else if (may_exist(pieces)) {
    const MappedFile file(pieces);
    parts = Parts::from_sentencepiece(tokenizing::text_of(file.bytes()), pieces.string());
    from_model_file = true;
  } else if (may_exist(vocabulary) || may_exist(merges)) {
    throw Error(ErrorCode::model, fmt::format("{}: expected vocab.json and merges.txt, found {} alone",
                                              directory.string(), may_exist(merges) ? "merges.txt" : "vocab.json"));
  } else {
    for (const auto* name : {"tokenizer.gguf", "tokenizer.bin"})  // each says everything by itself
      if (may_exist(directory / name)) return open_file(directory / name);
    return std::nullopt;
  }
  if (may_exist(config)) parts->apply_config(JsonReader::open(config), from_model_file);
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::from_json(std::string_view text, const std::string& where) {
  return Tokenizer(Parts::from_json(text, where));
}

Tokenizer Tokenizer::open_file(const std::filesystem::path& path) {
  if (GgufFile::recognises(path)) {
    if (auto parts = Parts::from_gguf(*GgufFile::open(path))) return Tokenizer(std::move(parts));
    throw Error(ErrorCode::model, fmt::format("{}: expected a tokenizer in the metadata, found none", path.string()));
  }
  const MappedFile file(path);
  const auto bytes = tokenizing::text_of(file.bytes());
  const auto where = path.string();
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && bytes[first] == '{') return from_json(bytes, where);
  // llama2.c's file begins with the length of the longest piece, SentencePiece's with the field of its first piece.
  if (bytes.size() >= 4 && bytes[2] <= 1 && bytes[3] == 0) return Tokenizer(Parts::from_llama2c(bytes, where));
  constexpr char first_field = 0x0A;
  if (!bytes.empty() && bytes[0] == first_field) return Tokenizer(Parts::from_sentencepiece(bytes, where));
  throw Error(
      ErrorCode::model,
      fmt::format("{}: expected a tokenizer.json, a SentencePiece model or llama2.c's tokenizer.bin, found none "
                  "of them",
                  where));
}

Tokenizer Tokenizer::from_pieces(const ScoredPieces& pieces, const PieceOptions& options, const std::string& where) {
  return Tokenizer(Parts::from_pieces(pieces, options, where));
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view bytes, const EncodeOptions& options) const {
  const auto& parts = *parts_;
  std::vector<TokenId> ids;
  const auto run = parts.model->start();
  const auto on_token = [&](TokenId id) { ids.push_back(id); };
  const tokenizing::PieceSink on_piece = [&](const tokenizing::Piece& piece) { run->encode(piece.text, ids); };
  // Each part between added tokens is normalized by itself, and may hold added tokens of the second kind then.
  bool part_at_start = true;
  auto room = tokenizing::most_normal_bytes(bytes.size());  // for all that is normalized
  const auto on_normal_text = [&](std::string_view text, bool at_start) {
    const tokenizing::Piece piece{text, part_at_start && at_start};
    if (parts.pre_tokenizer)
      parts.pre_tokenizer->split(piece, on_piece);
    else
      on_piece(piece);
  };
  const auto on_text = [&](std::string_view text, bool at_start) {
    part_at_start = at_start;
    std::string normal;
    if (parts.normalizer) text = normal = parts.normalizer->apply(std::string(text), room);
    room -= normal.size();
    parts.added.split(AddedTokens::Stage::after_normalizer, text, options.parse_special, on_normal_text, on_token);
  };
  parts.added.split(AddedTokens::Stage::before_normalizer, bytes, options.parse_special, on_text, on_token);
  if (options.add_special && parts.post_processor) parts.post_processor->apply(ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool with_special) const {
  DecodeRun run(*parts_->decoder, false);
  for (const auto id : ids) {
    const auto [piece, added] = parts_->spelling(id);
    if (with_special || !parts_->is_special(id)) run.push(piece, added);
  }
  run.finish();
  return run.take();
}

std::string Tokenizer::piece(TokenId id) const { return std::string(parts_->spelling(id).piece); }

std::string Tokenizer::bytes(TokenId id) const {
  const auto [piece, added] = parts_->spelling(id);
  DecodeRun run(*parts_->decoder, true);
  run.push(piece, added);
  run.finish();
  return run.take();
}

std::optional<TokenId> Tokenizer::find(std::string_view piece) const {
  if (const auto* token = parts_->added.find(piece)) return token->id;
  const auto id = parts_->model->vocabulary().find(piece);
  return id == tokenizing::Vocabulary::none ? std::nullopt : std::optional(id);
}

bool Tokenizer::is_special(TokenId id) const { return parts_->is_special(id); }

std::optional<TokenId> Tokenizer::bos() const { return parts_->bos; }

std::optional<TokenId> Tokenizer::eos() const { return parts_->eos; }

std::size_t Tokenizer::size() const { return static_cast<std::size_t>(parts_->max_id() + 1); }

std::string Tokenizer::summary() const {
  const auto& model = *parts_->model;
  auto n_tokens = model.vocabulary().size();
  for (const auto& token : parts_->added.all())
    if (!model.vocabulary().piece(token.id)) ++n_tokens;
  const bool byte_level =
      parts_->decoder->is_byte_level() || (parts_->pre_tokenizer != nullptr && parts_->pre_tokenizer->is_byte_level());
  return fmt::format("{}, {} tokens{}", model.name(), n_tokens, byte_level ? ", byte-level" : "");
}

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool with_special)
    : parts_(tokenizer.parts_.get()),
      with_special_(with_special),
      run_(std::make_unique<DecodeRun>(*parts_->decoder, false)) {}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(TokenId id) {
  const auto [piece, added] = parts_->spelling(id);
  if (!with_special_ && parts_->is_special(id)) return {};
  run_->push(piece, added);
  return run_->take();
}

std::string StreamDecoder::finish() {
  run_->finish();
  auto rest = run_->take();
  run_ = std::make_unique<DecodeRun>(*parts_->decoder, false);
  return rest;
}

}  // namespace qkv
