#include "qkv/tokenizer/word_level.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/byte_trie.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

constexpr auto none = Vocabulary::none;

/// A model whose every piece is tokens of the vocabulary, or the unknown token.
class WordModel : public TokenModel {
 public:
  WordModel(const JsonReader& object, Vocabulary vocabulary)
      : where_(object.where()), vocabulary_(std::move(vocabulary)), unknown_piece_(object.text("unk_token")) {
    unknown_ = vocabulary_.find(unknown_piece_);
  }

  std::unique_ptr<TokenModelRun> start() const final { return std::make_unique<Run>(*this); }
  const Vocabulary& vocabulary() const final { return vocabulary_; }

 protected:
  /// Appends the tokens of `piece`; false, and nothing appended, when it is unknown.
  virtual bool append(std::string_view piece, std::vector<TokenId>& ids) const = 0;

 private:
  class Run final : public TokenModelRun {
   public:
    explicit Run(const WordModel& model) : model_(model) {}
    void encode(std::string_view piece, std::vector<TokenId>& ids) override {
      if (model_.append(piece, ids)) return;
      if (model_.unknown_ == none)
        throw Error(ErrorCode::model,
                    fmt::format("{}: key 'unk_token': expected a token of the vocabulary for {}, found {}",
                                model_.where_, in_quotes(piece), in_quotes(model_.unknown_piece_)));
      ids.push_back(model_.unknown_);
    }

   private:
    const WordModel& model_;
  };

  std::string where_;
  Vocabulary vocabulary_;
  std::string unknown_piece_;
  TokenId unknown_;
};

class WordLevel final : public WordModel {
 public:
  using WordModel::WordModel;
  std::string_view name() const override { return "WordLevel"; }

 protected:
  bool append(std::string_view piece, std::vector<TokenId>& ids) const override {
    const auto id = vocabulary().find(piece);
    if (id != none) ids.push_back(id);
    return id != none;
  }
};

class WordPiece final : public WordModel {
 public:
  WordPiece(const JsonReader& object, Vocabulary vocabulary)
      : WordModel(object, std::move(vocabulary)),
        prefix_(object.text("continuing_subword_prefix")),
        most_characters_(static_cast<std::size_t>(object.integer("max_input_chars_per_word", {0, 1'000'000}))) {
    const auto& [pieces, ids] = this->vocabulary().entries();
    ByteTrie::Strings first;
    ByteTrie::Strings inside;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      first.emplace_back(pieces[i], ids[i]);
      if (pieces[i].starts_with(prefix_)) inside.emplace_back(pieces[i].substr(prefix_.size()), ids[i]);
    }
    first_ = ByteTrie(std::move(first));
    inside_ = ByteTrie(std::move(inside));
  }
  std::string_view name() const override { return "WordPiece"; }

 protected:
  bool append(std::string_view piece, std::vector<TokenId>& ids) const override {
    if (count_characters(piece) > most_characters_) return false;
    const auto n_before = ids.size();
    for (std::size_t at = 0; at < piece.size();) {
      const auto taken = append_longest(piece.substr(at), at > 0, ids);
      if (taken == 0) {
        ids.resize(n_before);
        return false;
      }
      at += taken;
    }
    return true;
  }

 private:
  /// How many bytes of `rest` the longest token takes that it begins with; 0 for none.
  std::size_t append_longest(std::string_view rest, bool inside, std::vector<TokenId>& ids) const {
    std::size_t taken = 0;
    TokenId longest = none;
    (inside ? inside_ : first_).for_each_prefix(rest, [&](std::size_t length, std::int32_t id) {
      taken = length;
      longest = id;
    });
    if (taken > 0) ids.push_back(longest);
    return taken;
  }

  std::string prefix_;
  std::size_t most_characters_;
  ByteTrie first_;   // what a word may begin with,
  ByteTrie inside_;  // and what may follow, without the prefix
};

template <typename Model>
std::unique_ptr<const TokenModel> make(const JsonReader& object, TokenizerDocument& document) {
  if (!object.raw("vocab").is_object()) object.fail("vocab", "an object of pieces and ids");
  return std::make_unique<Model>(object, Vocabulary(std::move(document.vocabulary), object.where() + ": key 'vocab'"));
}

}  // namespace

std::unique_ptr<const TokenModel> make_word_level(const JsonReader& object, TokenizerDocument& document) {
  return make<WordLevel>(object, document);
}

std::unique_ptr<const TokenModel> make_word_piece(const JsonReader& object, TokenizerDocument& document) {
  return make<WordPiece>(object, document);
}

}  // namespace qkv::tokenizing
