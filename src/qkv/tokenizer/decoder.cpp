#include "qkv/tokenizer/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/tokenizer/byte_level.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/pattern.hpp"
#include "qkv/tokenizer/piece_table.hpp"
#include "qkv/tokenizer/word_decoders.hpp"

namespace qkv::tokenizing {
namespace {

using DecoderPointer = std::unique_ptr<const Decoder>;

class ReplaceStage final : public TokenStage {
 public:
  ReplaceStage(const Pattern& pattern, const std::string& content) : pattern_(pattern), content_(content) {}

 protected:
  void rewrite(std::string_view token, bool added) override {
    PatternScan scan(pattern_, token);
    replaced_.clear();
    std::size_t done = 0;
    while (const auto match = scan.next()) {
      replaced_.append(token.substr(done, match->begin - done)).append(content_);
      check_size(token.size());
      done = match->end;
    }
    hand_on(replaced_.append(token.substr(done)), added);
  }

 private:
  /// Stages that each write a little more than they read would make terabytes of a token.
  void check_size(std::size_t n_read) const {
    constexpr std::size_t room = std::size_t{1} << 24U;
    if (replaced_.size() > std::max(n_read, room))
      throw Error(
          ErrorCode::model,
          fmt::format("tokenizer: decoder: expected rules that make at most {} bytes of a token, found more", room));
  }

  const Pattern& pattern_;
  const std::string& content_;
  std::string replaced_;
};

/// The byte that a token like "<0x41>" stands for. The library that defines the format puts U+FFFD in the place of
/// bytes that are not UTF-8 together; here they stay the bytes that they are.
class ByteFallbackStage final : public TokenStage {
 protected:
  void rewrite(std::string_view token, bool added) override {
    const int value = added ? -1 : byte_of_piece(token);
    if (value < 0) return hand_on(token, added);
    const char byte = static_cast<char>(value);
    hand_on({&byte, 1}, added);
  }
};

class MetaspaceStage final : public TokenStage {
 public:
  MetaspaceStage(const std::string& replacement, bool strips_first)
      : replacement_(replacement), strips_(strips_first) {}

 protected:
  void rewrite(std::string_view token, bool added) override {
    std::string text;
    while (!token.empty()) {
      const auto found = token.find(replacement_);
      text.append(token.substr(0, found));
      if (found == std::string_view::npos) break;
      if (!strips_) text += ' ';
      token.remove_prefix(found + replacement_.size());
    }
    strips_ = false;
    hand_on(text, added);
  }

 private:
  const std::string& replacement_;
  bool strips_;
};

/// Joins all tokens into one, which ends when the text does.
class FuseStage final : public DecodeStage {
 public:
  void push(const Fragment& fragment) override { next().push({fragment.text, false, false}); }
  void finish() override { next().push({{}, false, true}); }
};

/// Turns pieces in the byte-level alphabet into bytes, and joins them into one token. Added tokens, and pieces that
/// are spelled otherwise, are their own bytes.
class ByteLevelStage final : public DecodeStage {
 public:
  void push(const Fragment& fragment) override {
    const auto bytes = fragment.added ? std::nullopt : spelled_bytes(fragment.text);
    next().push({bytes ? std::string_view(*bytes) : fragment.text, false, false});
  }
  void finish() override { next().push({{}, false, true}); }
};

/// Takes up to `start` times a character from the beginning of each token, and up to `stop` times from its end.
class StripStage final : public DecodeStage {
 public:
  StripStage(const std::string& content, std::size_t start, std::size_t stop)
      : content_(content), start_(start), stop_(stop), left_(start) {}

  void push(const Fragment& fragment) override {
    held_.append(fragment.text);
    while (left_ > 0 && held_.compare(0, content_.size(), content_) == 0) {
      held_.erase(0, content_.size());
      --left_;
    }
    const bool may_continue = content_.compare(0, held_.size(), held_) == 0;
    if (!fragment.ends && ((left_ > 0 && may_continue) || stop_ > 0)) return;
    left_ = fragment.ends ? start_ : 0;
    if (fragment.ends) strip_end();
    next().push({held_, fragment.added, fragment.ends});
    held_.clear();
  }

 private:
  void strip_end() {
    for (auto n = stop_; n > 0 && std::string_view(held_).ends_with(content_); --n)
      held_.resize(held_.size() - content_.size());
  }

  const std::string& content_;
  std::size_t start_;
  std::size_t stop_;
  std::size_t left_;  // how many may still be taken from the beginning of this token
  std::string held_;
};

class JoinStage final : public DecodeStage {
 public:
  explicit JoinStage(bool joins) : joins_(joins) {}
  void push(const Fragment& fragment) override {
    if (joins_ && !at_start_) next().push({" ", false, false});
    at_start_ = false;
    next().push(fragment);
  }

 private:
  bool joins_;
  bool at_start_ = true;
};

class OutputStage final : public DecodeStage {
 public:
  explicit OutputStage(std::string& text) : text_(text) {}
  void push(const Fragment& fragment) override { text_.append(fragment.text); }

 private:
  std::string& text_;
};

class SequenceDecoder final : public Decoder {
 public:
  explicit SequenceDecoder(std::vector<DecoderPointer> parts) : parts_(std::move(parts)) {}
  void start(DecodeStages& stages, bool inner) const override {
    for (const auto& part : parts_) part->start(stages, inner);
  }
  bool is_byte_level() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->is_byte_level(); });
  }

 private:
  std::vector<DecoderPointer> parts_;
};

/// A decoder without options.
template <typename Stage, bool byte_level = false>
class PlainDecoder final : public Decoder {
 public:
  void start(DecodeStages& stages, bool) const override { stages.push_back(std::make_unique<Stage>()); }
  bool is_byte_level() const override { return byte_level; }
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void start(DecodeStages& stages, bool) const override {
    stages.push_back(std::make_unique<ReplaceStage>(pattern_, content_));
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class StripDecoder final : public Decoder {
 public:
  StripDecoder(std::string content, std::size_t start, std::size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void start(DecodeStages& stages, bool inner) const override {
    if (!inner) stages.push_back(std::make_unique<StripStage>(content_, start_, stop_));
  }

 private:
  std::string content_;
  std::size_t start_;
  std::size_t stop_;
};

class MetaspaceDecoder final : public Decoder {
 public:
  MetaspaceDecoder(std::string replacement, bool strips_first)
      : replacement_(std::move(replacement)), strips_first_(strips_first) {}
  void start(DecodeStages& stages, bool inner) const override {
    stages.push_back(std::make_unique<MetaspaceStage>(replacement_, strips_first_ && !inner));
  }

 private:
  std::string replacement_;
  bool strips_first_;
};

class JoiningDecoder final : public Decoder {
 public:
  void start(DecodeStages& stages, bool inner) const override { stages.push_back(std::make_unique<JoinStage>(!inner)); }
};

template <typename Made>
DecoderPointer make_plain(const JsonReader& object) {
  // The byte-level decoder is written with the options of its pre-tokenizer, which do not matter here.
  for (const auto* key : {"add_prefix_space", "trim_offsets", "use_regex"}) object.ignore(key);
  return std::make_unique<Made>();
}

DecoderPointer make_replace(const JsonReader& object) {
  return std::make_unique<ReplaceDecoder>(Pattern::read(object, "pattern"), object.text("content"));
}

DecoderPointer make_strip(const JsonReader& object) {
  constexpr std::int64_t most = 1'000'000;
  return std::make_unique<StripDecoder>(read_character(object, "content"),
                                        static_cast<std::size_t>(object.integer("start", {0, most})),
                                        static_cast<std::size_t>(object.integer("stop", {0, most})));
}

DecoderPointer make_metaspace(const JsonReader& object) {
  for (const auto* key : {"str_rep", "split"}) object.ignore(key);
  const auto scheme =
      object.text_or("prepend_scheme", object.boolean_or("add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    object.fail("prepend_scheme", "always, first or never");
  return std::make_unique<MetaspaceDecoder>(read_character(object, "replacement"), scheme != "never");
}

DecoderPointer make_sequence(const JsonReader& object) {
  std::vector<DecoderPointer> parts;
  for (const auto& part : object.objects("decoders")) parts.push_back(make_decoder(part));
  return std::make_unique<SequenceDecoder>(std::move(parts));
}

using ByteLevelDecoder = PlainDecoder<ByteLevelStage, true>;

using Kind = ComponentKind<DecoderPointer>;
constexpr std::array kinds = {
    Kind{"ByteLevel", make_plain<ByteLevelDecoder>},
    Kind{"Replace", make_replace},
    Kind{"ByteFallback", make_plain<PlainDecoder<ByteFallbackStage>>},
    Kind{"Fuse", make_plain<PlainDecoder<FuseStage>>},
    Kind{"Strip", make_strip},
    Kind{"Metaspace", make_metaspace},
    Kind{"Sequence", make_sequence},
    Kind{"WordPiece", make_word_piece_decoder},
    Kind{"BPEDecoder", make_bpe_decoder},
};

}  // namespace

void TokenStage::push(const Fragment& fragment) {
  if (held_.empty() && fragment.ends) return rewrite(fragment.text, fragment.added);
  held_.append(fragment.text);
  if (!fragment.ends) return;
  rewrite(held_, fragment.added);
  held_.clear();
}

DecoderPointer make_decoder(const JsonReader& object) { return make_component(kinds, object.text("type"), object); }

DecoderPointer make_joining_decoder() { return std::make_unique<JoiningDecoder>(); }

DecoderPointer make_byte_level_decoder() { return std::make_unique<ByteLevelDecoder>(); }

DecodeRun::DecodeRun(const Decoder& decoder, bool inner) : text_(std::make_unique<std::string>()) {
  decoder.start(stages_, inner);
  stages_.push_back(std::make_unique<OutputStage>(*text_));
  for (std::size_t i = 0; i + 1 < stages_.size(); ++i) stages_[i]->set_next(stages_[i + 1].get());
}

void DecodeRun::push(std::string_view piece, bool added) { stages_.front()->push({piece, added, true}); }

void DecodeRun::finish() {
  for (const auto& stage : stages_) stage->finish();
}

std::string DecodeRun::take() { return std::exchange(*text_, {}); }

}  // namespace qkv::tokenizing
