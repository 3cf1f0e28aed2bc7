#include "qkv/tokenizer/pre_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/byte_level.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/pattern.hpp"
#include "qkv/tokenizer/split.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

using PreTokenizerPointer = std::unique_ptr<const PreTokenizer>;

void hand_on(const Piece& piece, const std::vector<Span>& parts, const PieceSink& next) {
  for (const auto& part : parts)
    next({piece.text.substr(part.begin, part.end - part.begin), piece.at_start && part.begin == 0});
}

class SequencePreTokenizer final : public PreTokenizer {
 public:
  explicit SequencePreTokenizer(std::vector<PreTokenizerPointer> parts) : parts_(std::move(parts)) {}
  void split(const Piece& piece, const PieceSink& next) const override { split_from(0, piece, next); }
  bool is_byte_level() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->is_byte_level(); });
  }

 private:
  void split_from(std::size_t index, const Piece& piece, const PieceSink& next) const {
    if (index == parts_.size()) return next(piece);
    if (index + 1 == parts_.size()) return parts_[index]->split(piece, next);
    parts_[index]->split(piece, [&](const Piece& part) { split_from(index + 1, part, next); });
  }

  std::vector<PreTokenizerPointer> parts_;
};

class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  ByteLevelPreTokenizer(bool add_prefix_space, bool use_regex)
      : add_prefix_space_(add_prefix_space), words_(use_regex ? Pattern::regex(words, "") : Pattern::literal("")) {}

  void split(const Piece& piece, const PieceSink& next) const override {
    if (!add_prefix_space_ || piece.text.substr(0, 1) == " ") return spell(piece, next);
    std::string prefixed = " ";
    prefixed += piece.text;
    spell({prefixed, piece.at_start}, next);
  }
  bool is_byte_level() const override { return true; }

 private:
  // GPT-2's: contractions, words, numbers, other signs, each with one space before it, and runs of white space that
  // leave their last character to what follows.
  static constexpr std::string_view words =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

  void spell(const Piece& piece, const PieceSink& next) const {
    std::string spelled;
    const auto spell_part = [&](std::size_t begin, std::size_t end) {
      spelled.clear();
      append_spelling(spelled, piece.text.substr(begin, end - begin));
      next({spelled, piece.at_start && begin == 0});
    };
    std::size_t done = 0;
    PatternScan scan(words_, piece.text);
    while (const auto match = scan.next()) {
      if (match->begin > done) spell_part(done, match->begin);
      spell_part(match->begin, match->end);
      done = match->end;
    }
    if (done < piece.text.size()) spell_part(done, piece.text.size());
  }

  bool add_prefix_space_;
  Pattern words_;  // finds nothing where the text was cut before
};

class SplitPreTokenizer final : public PreTokenizer {
 public:
  SplitPreTokenizer(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void split(const Piece& piece, const PieceSink& next) const override {
    auto spans = spans_of(pattern_, piece.text);
    if (invert_)
      for (auto& span : spans) span.is_match = !span.is_match;
    hand_on(piece, split_spans(spans, behavior_), next);
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

/// Splits at single characters of one class.
class CharacterPreTokenizer final : public PreTokenizer {
 public:
  CharacterPreTokenizer(bool (*is_delimiter)(std::int32_t), SplitBehavior behavior)
      : is_delimiter_(is_delimiter), behavior_(behavior) {}
  void split(const Piece& piece, const PieceSink& next) const override {
    hand_on(piece, split_spans(spans_of(is_delimiter_, piece.text), behavior_), next);
  }

 private:
  bool (*is_delimiter_)(std::int32_t);
  SplitBehavior behavior_;
};

/// Cuts after each so many characters.
class FixedLengthPreTokenizer final : public PreTokenizer {
 public:
  explicit FixedLengthPreTokenizer(std::size_t n_characters) : n_characters_(n_characters) {}
  void split(const Piece& piece, const PieceSink& next) const override {
    for (std::size_t begin = 0, end = 0; begin < piece.text.size(); begin = end) {
      for (std::size_t n = 0; n < n_characters_ && end < piece.text.size(); ++n)
        end += utf8_next(piece.text, end).length;
      next({piece.text.substr(begin, end - begin), piece.at_start && begin == 0});
    }
  }

 private:
  std::size_t n_characters_;
};

class MetaspacePreTokenizer final : public PreTokenizer {
 public:
  enum class Prepend { always, first, never };
  MetaspacePreTokenizer(const std::string& replacement, Prepend prepend, bool split)
      : replacement_(replacement), pattern_(Pattern::literal(replacement)), prepend_(prepend), split_(split) {}

  void split(const Piece& piece, const PieceSink& next) const override {
    std::string text;
    for (const char byte : piece.text) {
      if (byte == ' ')
        text += replacement_;
      else
        text += byte;
    }
    const bool wanted = prepend_ == Prepend::always || (prepend_ == Prepend::first && piece.at_start);
    if (wanted && text.compare(0, replacement_.size(), replacement_) != 0) text.insert(0, replacement_);
    const Piece changed{text, piece.at_start};
    if (!split_) return next(changed);
    hand_on(changed, split_spans(spans_of(pattern_, text), SplitBehavior::merged_with_next), next);
  }

 private:
  std::string replacement_;
  Pattern pattern_;
  Prepend prepend_;
  bool split_;
};

PreTokenizerPointer make_sequence(const JsonReader& object) {
  std::vector<PreTokenizerPointer> parts;
  for (const auto& part : object.objects("pretokenizers")) parts.push_back(make_pre_tokenizer(part));
  return std::make_unique<SequencePreTokenizer>(std::move(parts));
}

PreTokenizerPointer make_byte_level(const JsonReader& object) {
  object.ignore("trim_offsets");  // about offsets into the text, which are not kept
  return std::make_unique<ByteLevelPreTokenizer>(object.boolean("add_prefix_space"),
                                                 object.boolean_or("use_regex", true));
}

PreTokenizerPointer make_split(const JsonReader& object) {
  return std::make_unique<SplitPreTokenizer>(Pattern::read(object, "pattern"), read_split_behavior(object),
                                             object.boolean_or("invert", false));
}

PreTokenizerPointer make_digits(const JsonReader& object) {
  const bool one_by_one = object.boolean_or("individual_digits", false);
  return std::make_unique<CharacterPreTokenizer>(is_numeric,
                                                 one_by_one ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

MetaspacePreTokenizer::Prepend read_prepend_scheme(const JsonReader& object) {
  using Prepend = MetaspacePreTokenizer::Prepend;
  // Older files say yes or no; newer ones that say both must agree.
  const bool has_scheme = object.has("prepend_scheme");
  const auto add = object.boolean_or("add_prefix_space", true);
  const auto scheme = object.text_or("prepend_scheme", add ? "always" : "never");
  if (has_scheme && !add && scheme != "never") object.fail("add_prefix_space", "agreement with 'prepend_scheme'");
  if (scheme == "always") return Prepend::always;
  if (scheme == "first") return Prepend::first;
  if (scheme == "never") return Prepend::never;
  object.fail("prepend_scheme", "always, first or never");
}

PreTokenizerPointer make_metaspace(const JsonReader& object) {
  object.ignore("str_rep");  // the replacement once more
  return std::make_unique<MetaspacePreTokenizer>(read_character(object, "replacement"), read_prepend_scheme(object),
                                                 object.boolean_or("split", true));
}

PreTokenizerPointer make_whitespace(const JsonReader&) {
  // Words are those of is_word().
  constexpr auto words = R"([\w\u200C\u200D]+|[^\w\u200C\u200D\s]+)";
  return std::make_unique<SplitPreTokenizer>(Pattern::regex(words, ""), SplitBehavior::removed, true);
}

PreTokenizerPointer make_whitespace_split(const JsonReader&) {
  return std::make_unique<CharacterPreTokenizer>(is_white_space, SplitBehavior::removed);
}

PreTokenizerPointer make_punctuation(const JsonReader& object) {
  return std::make_unique<CharacterPreTokenizer>(
      is_punctuation, object.has("behavior") ? read_split_behavior(object) : SplitBehavior::isolated);
}

PreTokenizerPointer make_character_split(const JsonReader& object) {
  return std::make_unique<SplitPreTokenizer>(Pattern::literal(read_character(object, "delimiter")),
                                             SplitBehavior::removed, false);
}

PreTokenizerPointer make_bert(const JsonReader&) {
  std::vector<PreTokenizerPointer> parts;
  parts.push_back(std::make_unique<CharacterPreTokenizer>(is_white_space, SplitBehavior::removed));
  parts.push_back(std::make_unique<CharacterPreTokenizer>(is_punctuation, SplitBehavior::isolated));
  return std::make_unique<SequencePreTokenizer>(std::move(parts));
}

PreTokenizerPointer make_fixed_length(const JsonReader& object) {
  constexpr std::int64_t most = 1'000'000;
  return std::make_unique<FixedLengthPreTokenizer>(static_cast<std::size_t>(object.integer("length", {1, most})));
}

using Kind = ComponentKind<PreTokenizerPointer>;
constexpr std::array kinds = {
    Kind{"Sequence", make_sequence},
    Kind{"ByteLevel", make_byte_level},
    Kind{"Split", make_split},
    Kind{"Digits", make_digits},
    Kind{"Metaspace", make_metaspace},
    Kind{"Whitespace", make_whitespace},
    Kind{"WhitespaceSplit", make_whitespace_split},
    Kind{"Punctuation", make_punctuation},
    Kind{"CharDelimiterSplit", make_character_split},
    Kind{"FixedLength", make_fixed_length},
    Kind{"BertPreTokenizer", make_bert},
};

}  // namespace

PreTokenizerPointer make_pre_tokenizer(const JsonReader& object) {
  return make_component(kinds, object.text("type"), object);
}

}  // namespace qkv::tokenizing
