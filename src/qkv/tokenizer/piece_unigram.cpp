#include "qkv/tokenizer/piece_unigram.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "qkv/tokenizer/byte_trie.hpp"
#include "qkv/tokenizer/viterbi.hpp"

namespace qkv::tokenizing {
namespace {

class PieceUnigram final : public TokenModel {
 public:
  explicit PieceUnigram(PieceTable pieces) : pieces_(std::move(pieces)) {
    // The library starts the search for the largest score from the smallest positive number.
    float lowest = std::numeric_limits<float>::max();
    ByteTrie::Strings strings;
    const auto& all = pieces_.vocabulary().entries();
    for (std::size_t i = 0; i < all.ids.size(); ++i) {
      const auto id = all.ids[i];
      if (pieces_.find(all.pieces[i]) == Vocabulary::none || pieces_.kind(id) == PieceKind::unused) continue;
      strings.emplace_back(all.pieces[i], id);
      if (pieces_.kind(id) != PieceKind::normal) continue;
      lowest = std::min(lowest, pieces_.score(id));
      highest_ = std::max(highest_, pieces_.score(id));
    }
    trie_ = ByteTrie(std::move(strings));
    constexpr float penalty = 10;
    unknown_score_ = lowest - penalty;
  }

  std::unique_ptr<TokenModelRun> start() const override;
  const Vocabulary& vocabulary() const override { return pieces_.vocabulary(); }
  std::string_view name() const override { return pieces_.has_bytes() ? "Unigram with byte fallback" : "Unigram"; }

  const PieceTable& pieces() const { return pieces_; }
  const std::vector<Viterbi<float>::Step>& steps(std::string_view text, Viterbi<float>& viterbi) const {
    return viterbi.run(text, trie_, unknown_score_, Vocabulary::none, [&](TokenId id, std::size_t length) {
      constexpr double less_than_alone = 0.1;
      if (pieces_.kind(id) != PieceKind::user_defined) return static_cast<double>(pieces_.score(id));
      return static_cast<double>(static_cast<float>(length) * highest_) - less_than_alone;
    });
  }

 private:
  PieceTable pieces_;
  ByteTrie trie_;
  float highest_ = std::numeric_limits<float>::min();
  float unknown_score_ = 0;
};

class PieceUnigramRun final : public TokenModelRun {
 public:
  explicit PieceUnigramRun(const PieceUnigram& model) : model_(model) {}

  void encode(std::string_view piece, std::vector<TokenId>& ids) override {
    const auto begin = ids.size();
    const auto& steps = model_.steps(piece, viterbi_);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (step->id == Vocabulary::none)
        model_.pieces().append_unknown(piece.substr(step->begin, step->end - step->begin), begin, ids);
      else
        ids.push_back(step->id);
    }
  }

 private:
  const PieceUnigram& model_;
  Viterbi<float> viterbi_;
};

std::unique_ptr<TokenModelRun> PieceUnigram::start() const { return std::make_unique<PieceUnigramRun>(*this); }

}  // namespace

std::unique_ptr<const TokenModel> make_piece_unigram(PieceTable pieces) {
  return std::make_unique<PieceUnigram>(std::move(pieces));
}

}  // namespace qkv::tokenizing
