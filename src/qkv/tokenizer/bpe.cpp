#include "qkv/tokenizer/bpe.hpp"

#include <fmt/format.h>

#include <array>
#include <bitset>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/merge_table.hpp"
#include "qkv/tokenizer/piece_cache.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

constexpr auto none = Vocabulary::none;

struct BpeOptions {
  std::string where;
  std::optional<std::string> unknown_piece;
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
  std::string prefix;  // of every character of a piece but the first
  std::string suffix;  // of the last character of a piece
};

/// Which two first tokens can stand next to each other inside a merged token. Where two neighbours cannot, no merge
/// ever reaches across, so a text without pre-tokenizer can be cut there and its parts remembered. May say yes
/// wrongly (two pairs may share a bit), never no.
class JoinFilter {
 public:
  void add(TokenId left, TokenId right) { bits_.set(bit(left, right)); }
  [[nodiscard]] bool may_join(TokenId left, TokenId right) const { return bits_.test(bit(left, right)); }

 private:
  static constexpr std::size_t n_bits = std::size_t{1} << 18U;
  static std::size_t bit(TokenId left, TokenId right) {
    const auto key = (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) | static_cast<std::uint32_t>(right);
    return mix(key) & (n_bits - 1);
  }
  std::bitset<n_bits> bits_;
};

/// A token that a piece begins with before any merge, and where in the piece it stands.
struct Symbol {
  TokenId id;
  std::uint32_t begin;
};

class Bpe final : public TokenModel {
 public:
  Bpe(BpeOptions options, Vocabulary vocabulary, const PieceList& merges);

  std::unique_ptr<TokenModelRun> start() const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::string_view name() const override { return options_.byte_fallback ? "BPE with byte fallback" : "BPE"; }

  void find_symbols(std::string_view piece, std::vector<Symbol>& symbols) const;

  const BpeOptions& options() const { return options_; }
  const MergeTable& merges() const { return merges_; }
  bool can_cut() const { return can_cut_; }
  bool may_join(TokenId left, TokenId right) const { return filter_->may_join(left, right); }

 private:
  static constexpr std::size_t n_small = 0x800;  // characters of one or two bytes

  void find_characters();
  void read_merges(const PieceList& merges);
  void note_join(std::string_view left, std::string_view right);
  bool is_stand_in(std::string_view piece, TokenId id) const;
  TokenId find_character(std::string_view character, std::int32_t codepoint) const;
  bool append_bytes(std::string_view character, std::uint32_t begin, std::vector<Symbol>& symbols) const;

  BpeOptions options_;
  Vocabulary vocabulary_;
  MergeTable merges_;
  TokenId unknown_ = none;
  std::vector<TokenId> small_ = std::vector<TokenId>(n_small, none);  // by codepoint
  std::array<TokenId, 256> bytes_{};                                  // "<0x00>" to "<0xFF>"
  bool can_cut_ = true;
  std::unique_ptr<JoinFilter> filter_ = std::make_unique<JoinFilter>();
};

class BpeRun final : public TokenModelRun {
 public:
  explicit BpeRun(const Bpe& model) : model_(model) {}

  void encode(std::string_view piece, std::vector<TokenId>& ids) override {
    // Places in a piece are 32-bit.
    if (piece.size() >= std::numeric_limits<std::uint32_t>::max())
      throw Error(ErrorCode::input,
                  fmt::format("text: expected pieces of fewer than 2^32 bytes, found {}", piece.size()));
    const bool is_short = piece.size() <= PieceCache::longest_piece;
    if (is_short && append_remembered(piece, ids)) return;
    if (model_.options().ignore_merges) {
      if (const auto whole = model_.vocabulary().find(piece); whole != none) {
        ids.push_back(whole);
        return;
      }
    }
    symbols_.clear();
    model_.find_symbols(piece, symbols_);
    if (is_short || !model_.can_cut()) {
      encode_symbols(piece, 0, symbols_.size(), ids);
      return;
    }
    for (std::size_t begin = 0, end = 0; begin < symbols_.size(); begin = end) {
      end = begin + 1;
      while (end < symbols_.size() && is_joined(symbols_[end - 1], symbols_[end])) ++end;
      const auto text_begin = symbols_[begin].begin;
      const auto text_end = end == symbols_.size() ? piece.size() : symbols_[end].begin;
      const auto part = piece.substr(text_begin, text_end - text_begin);
      if (!append_remembered(part, ids)) encode_symbols(part, begin, end, ids);
    }
  }

 private:
  /// The bytes of one character stay together too, since a part is remembered by its text.
  bool is_joined(const Symbol& left, const Symbol& right) const {
    return left.begin == right.begin || model_.may_join(left.id, right.id);
  }

  bool append_remembered(std::string_view text, std::vector<TokenId>& ids) const {
    const auto known = cache_.find(text);
    if (known) ids.insert(ids.end(), known->begin(), known->end());
    return known.has_value();
  }

  void encode_symbols(std::string_view text, std::size_t begin, std::size_t end, std::vector<TokenId>& ids) {
    tokens_.clear();
    for (auto i = begin; i < end; ++i) tokens_.push_back(symbols_[i].id);
    apply_merges(model_.merges(), tokens_);
    if (text.size() <= PieceCache::longest_piece) cache_.insert(text, tokens_);
    ids.insert(ids.end(), tokens_.begin(), tokens_.end());
  }

  const Bpe& model_;
  PieceCache cache_;
  std::vector<Symbol> symbols_;
  std::vector<TokenId> tokens_;
};

Bpe::Bpe(BpeOptions options, Vocabulary vocabulary, const PieceList& merges)
    : options_(std::move(options)), vocabulary_(std::move(vocabulary)), merges_(merges.size() / 2) {
  if (options_.unknown_piece) unknown_ = vocabulary_.find(*options_.unknown_piece);
  find_characters();
  // A piece that is a token as a whole, or that wears prefix and suffix, is not the sum of its parts.
  can_cut_ = !options_.ignore_merges && options_.prefix.empty() && options_.suffix.empty();
  read_merges(merges);
}

std::unique_ptr<TokenModelRun> Bpe::start() const { return std::make_unique<BpeRun>(*this); }

void Bpe::find_characters() {
  std::string character;
  for (std::size_t codepoint = 0; codepoint < n_small; ++codepoint) {
    character.clear();
    append_utf8(character, static_cast<std::int32_t>(codepoint));
    small_[codepoint] = vocabulary_.find(character);
  }
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte)
    bytes_[byte] = options_.byte_fallback ? vocabulary_.find(fmt::format("<0x{:02X}>", byte)) : none;
}

bool Bpe::is_stand_in(std::string_view piece, TokenId id) const {
  constexpr std::string_view any_byte = "<0x00>";
  return id == unknown_ || (options_.byte_fallback && piece.size() == any_byte.size() && piece.substr(0, 3) == "<0x");
}

void Bpe::note_join(std::string_view left, std::string_view right) {
  const auto last = last_character(left);
  const auto first = first_character(right);
  const auto last_id = find_character(left.substr(left.size() - last.length), last.codepoint);
  const auto first_id = find_character(right.substr(0, first.length), first.codepoint);
  if (last_id != none && first_id != none) filter_->add(last_id, first_id);
}

void Bpe::read_merges(const PieceList& merges) {
  std::string union_of_both;
  for (std::size_t i = 0; i + 1 < merges.size(); i += 2) {
    const auto left = merges[i];
    const auto right = merges[i + 1];
    const auto left_id = vocabulary_.find(left);
    const auto right_id = vocabulary_.find(right);
    const auto refuse = [&](std::string_view missing) {
      throw Error(ErrorCode::model,
                  fmt::format("{}: key 'merges': merge {}: expected tokens of the vocabulary, found {}", options_.where,
                              i / 2, in_quotes(missing)));
    };
    if (left_id == none) refuse(left);
    if (right_id == none) refuse(right);
    union_of_both.assign(left);
    if (right.size() >= options_.prefix.size()) union_of_both.append(right.substr(options_.prefix.size()));
    const auto made = vocabulary_.find(union_of_both);
    if (made == none) refuse(union_of_both);
    merges_.add(left_id, right_id, Merge(static_cast<std::uint32_t>(i / 2), made));
    if (!can_cut_) continue;
    // A merge with a token that stands for a byte or for the unknown does not join the characters of its spelling.
    if (left.empty() || right.empty() || is_stand_in(left, left_id) || is_stand_in(right, right_id))
      can_cut_ = false;
    else
      note_join(left, right);
  }
}

TokenId Bpe::find_character(std::string_view character, std::int32_t codepoint) const {
  if (codepoint >= 0 && static_cast<std::size_t>(codepoint) < n_small)
    return small_[static_cast<std::size_t>(codepoint)];
  return vocabulary_.find(character);
}

bool Bpe::append_bytes(std::string_view character, std::uint32_t begin, std::vector<Symbol>& symbols) const {
  for (const char byte : character)
    if (bytes_[static_cast<unsigned char>(byte)] == none) return false;
  for (std::size_t i = 0; i < character.size(); ++i)
    symbols.push_back({bytes_[static_cast<unsigned char>(character[i])], begin});
  return true;
}

void Bpe::find_symbols(std::string_view piece, std::vector<Symbol>& symbols) const {
  const bool has_affixes = !options_.prefix.empty() || !options_.suffix.empty();
  bool after_unknown = false;
  std::string with_affixes;
  for (std::size_t at = 0; at < piece.size();) {
    const auto step = utf8_next(piece, at);
    const auto begin = static_cast<std::uint32_t>(at);
    auto character = piece.substr(at, step.length);
    at += step.length;
    auto id = none;
    if (has_affixes) {
      with_affixes = (begin > 0 ? options_.prefix : "") + std::string(character);
      if (at == piece.size()) with_affixes += options_.suffix;
      character = with_affixes;
      id = vocabulary_.find(character);
    } else {
      id = find_character(character, step.codepoint);
    }
    if (id != none) {
      symbols.push_back({id, begin});
      after_unknown = false;
    } else if (options_.byte_fallback && append_bytes(character, begin, symbols)) {
      after_unknown = false;
    } else if (options_.unknown_piece) {
      if (unknown_ == none)
        throw Error(ErrorCode::model,
                    fmt::format("{}: key 'unk_token': expected a token of the vocabulary for {}, found {}",
                                options_.where, in_quotes(character), in_quotes(*options_.unknown_piece)));
      if (!after_unknown || !options_.fuse_unknown) symbols.push_back({unknown_, begin});
      after_unknown = true;
    }
  }
}

}  // namespace

std::unique_ptr<const TokenModel> make_bpe(const JsonReader& object, TokenizerDocument& document) {
  if (object.has("dropout")) {
    const auto& dropout = object.raw("dropout");
    if (!dropout.is_number() || dropout.get<double>() != 0) object.fail("dropout", "null or 0");
  }
  if (!object.raw("vocab").is_object()) object.fail("vocab", "an object of pieces and ids");
  if (!object.raw("merges").is_array()) object.fail("merges", "an array of merges");
  BpeOptions options;
  options.where = object.where();
  if (object.has("unk_token")) options.unknown_piece = object.text("unk_token");
  options.fuse_unknown = object.boolean_or("fuse_unk", false);
  options.byte_fallback = object.boolean_or("byte_fallback", false);
  options.ignore_merges = object.boolean_or("ignore_merges", false);
  options.prefix = object.text_or("continuing_subword_prefix", "");
  options.suffix = object.text_or("end_of_word_suffix", "");
  Vocabulary vocabulary(std::move(document.vocabulary), object.where() + ": key 'vocab'");
  return std::make_unique<Bpe>(std::move(options), std::move(vocabulary), document.merges);
}

}  // namespace qkv::tokenizing
