#include "qkv/tokenizer/unigram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/byte_trie.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/piece_cache.hpp"
#include "qkv/tokenizer/viterbi.hpp"

namespace qkv::tokenizing {
namespace {

constexpr auto none = Vocabulary::none;

class Unigram final : public TokenModel {
 public:
  Unigram(std::string where, Vocabulary vocabulary, std::vector<double> scores, TokenId unknown, bool byte_fallback)
      : where_(std::move(where)),
        vocabulary_(std::move(vocabulary)),
        scores_(std::move(scores)),
        unknown_(unknown),
        byte_fallback_(byte_fallback) {
    ByteTrie::Strings pieces;
    for (std::size_t i = 0; i < scores_.size(); ++i)
      pieces.emplace_back(vocabulary_.entries().pieces[i], vocabulary_.entries().ids[i]);
    trie_ = ByteTrie(std::move(pieces));
    // As far below the worst piece as in the library that defines the format.
    constexpr double penalty = 10;
    unknown_score_ = scores_.empty() ? 0 : *std::min_element(scores_.begin(), scores_.end()) - penalty;
    for (std::size_t byte = 0; byte < bytes_.size(); ++byte)
      bytes_[byte] = byte_fallback_ ? vocabulary_.find(fmt::format("<0x{:02X}>", byte)) : none;
  }

  std::unique_ptr<TokenModelRun> start() const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::string_view name() const override { return byte_fallback_ ? "Unigram with byte fallback" : "Unigram"; }

  const std::vector<Viterbi<double>::Step>& steps(std::string_view text, Viterbi<double>& viterbi) const {
    return viterbi.run(text, trie_, unknown_score_, unknown_,
                       [&](TokenId id, std::size_t) { return scores_[static_cast<std::size_t>(id)]; });
  }
  TokenId unknown() const { return unknown_; }

  /// What stands for `text`, a run of unknown characters.
  void append_unknown(std::string_view text, std::vector<TokenId>& ids) const {
    // The spelling of the unknown token itself is such a run too.
    const auto whole = vocabulary_.find(text);
    const auto byte_id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
    if (whole != none) {
      ids.push_back(whole);
    } else if (std::all_of(text.begin(), text.end(), [&](char byte) { return byte_id(byte) != none; })) {
      for (const char byte : text) ids.push_back(byte_id(byte));
    } else if (unknown_ != none) {
      ids.push_back(unknown_);
    } else {
      throw Error(ErrorCode::model, fmt::format("{}: key 'unk_id': expected an unknown token for {}, found none",
                                                where_, in_quotes(text)));
    }
  }

 private:
  std::string where_;
  Vocabulary vocabulary_;
  std::vector<double> scores_;
  TokenId unknown_;
  bool byte_fallback_;
  ByteTrie trie_;
  double unknown_score_;
  std::array<TokenId, 256> bytes_{};
};

class UnigramRun final : public TokenModelRun {
 public:
  explicit UnigramRun(const Unigram& model) : model_(model) {}

  void encode(std::string_view piece, std::vector<TokenId>& ids) override {
    const bool is_short = piece.size() <= PieceCache::longest_piece;
    if (const auto known = is_short ? cache_.find(piece) : std::nullopt) {
      ids.insert(ids.end(), known->begin(), known->end());
      return;
    }
    ids_.clear();
    const auto& steps = model_.steps(piece, viterbi_);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (step->id != model_.unknown()) {
        ids_.push_back(step->id);
        continue;
      }
      const auto begin = step->begin;
      while (std::next(step) != steps.rend() && std::next(step)->id == model_.unknown()) ++step;
      model_.append_unknown(piece.substr(begin, step->end - begin), ids_);
    }
    if (is_short) cache_.insert(piece, ids_);
    ids.insert(ids.end(), ids_.begin(), ids_.end());
  }

 private:
  const Unigram& model_;
  PieceCache cache_;
  Viterbi<double> viterbi_;
  std::vector<TokenId> ids_;
};

std::unique_ptr<TokenModelRun> Unigram::start() const { return std::make_unique<UnigramRun>(*this); }

}  // namespace

std::unique_ptr<const TokenModel> make_unigram(const JsonReader& object, TokenizerDocument& document) {
  if (!object.raw("vocab").is_array()) object.fail("vocab", "an array of pieces and scores");
  auto& scores = document.scores;
  const auto n_pieces = static_cast<std::int64_t>(scores.size());
  auto unknown = none;
  if (object.has("unk_id")) {
    if (n_pieces == 0) object.fail("unk_id", "null, where the vocabulary is empty");
    unknown = static_cast<TokenId>(object.integer("unk_id", {0, n_pieces - 1}));
  }
  const bool byte_fallback = object.boolean_or("byte_fallback", false);
  // The pieces of a vocabulary that is an array have their places for ids.
  Vocabulary vocabulary(std::move(document.vocabulary), object.where() + ": key 'vocab'");
  return std::make_unique<Unigram>(object.where(), std::move(vocabulary), std::move(scores), unknown, byte_fallback);
}

}  // namespace qkv::tokenizing
