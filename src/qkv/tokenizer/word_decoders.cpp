#include "qkv/tokenizer/word_decoders.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace qkv::tokenizing {
namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  while (!from.empty()) {
    const auto found = text.find(from);
    if (found == std::string_view::npos) break;
    replaced.append(text.substr(0, found)).append(to);
    text.remove_prefix(found + from.size());
  }
  return replaced.append(text);
}

class WordPieceStage final : public TokenStage {
 public:
  WordPieceStage(const std::string& prefix, bool cleanup, bool inner)
      : prefix_(prefix), cleanup_(cleanup), at_start_(true), inner_(inner) {}

 protected:
  void rewrite(std::string_view token, bool added) override {
    std::string text;
    const bool goes_on = !prefix_.empty() && token.starts_with(prefix_);
    if (goes_on && (!at_start_ || inner_))
      token.remove_prefix(prefix_.size());
    else if (!at_start_)
      text = ' ';
    at_start_ = false;
    text += token;
    if (cleanup_ && !inner_)
      for (const auto& [from, to] : tidied) text = replace_all(text, from, to);
    hand_on(text, added);
  }

 private:
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> tidied = {{{" .", "."},
                                                                                            {" ?", "?"},
                                                                                            {" !", "!"},
                                                                                            {" ,", ","},
                                                                                            {" ' ", "'"},
                                                                                            {" n't", "n't"},
                                                                                            {" 'm", "'m"},
                                                                                            {" do not", " don't"},
                                                                                            {" 's", "'s"},
                                                                                            {" 've", "'ve"},
                                                                                            {" 're", "'re"}}};
  const std::string& prefix_;
  bool cleanup_;
  bool at_start_;
  bool inner_;
};

/// Holds each token until it is known whether another one comes.
class BpeStage final : public TokenStage {
 public:
  BpeStage(const std::string& suffix, bool inner) : suffix_(suffix), inner_(inner) {}
  void finish() override { release(inner_ ? " " : ""); }

 protected:
  void rewrite(std::string_view token, bool added) override {
    release(" ");
    held_ = {std::string(token), added};
  }

 private:
  void release(std::string_view replacement) {
    if (held_) hand_on(replace_all(held_->first, suffix_, replacement), held_->second);
    held_.reset();
  }

  const std::string& suffix_;
  bool inner_;
  std::optional<std::pair<std::string, bool>> held_;
};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void start(DecodeStages& stages, bool inner) const override {
    stages.push_back(std::make_unique<WordPieceStage>(prefix_, cleanup_, inner));
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void start(DecodeStages& stages, bool inner) const override {
    stages.push_back(std::make_unique<BpeStage>(suffix_, inner));
  }

 private:
  std::string suffix_;
};

}  // namespace

std::unique_ptr<const Decoder> make_word_piece_decoder(const JsonReader& object) {
  return std::make_unique<WordPieceDecoder>(object.text("prefix"), object.boolean("cleanup"));
}

std::unique_ptr<const Decoder> make_bpe_decoder(const JsonReader& object) {
  return std::make_unique<BpeDecoder>(object.text("suffix"));
}

}  // namespace qkv::tokenizing
