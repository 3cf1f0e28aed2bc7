#include "qkv/tokenizer/normalizer.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <array>
#include <utility>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/byte_level.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/pattern.hpp"
#include "qkv/tokenizer/precompiled_normalizer.hpp"
#include "qkv/tokenizer/rewrites.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

using NormalizerPointer = std::unique_ptr<const Normalizer>;

class SequenceNormalizer final : public Normalizer {
 public:
  explicit SequenceNormalizer(std::vector<NormalizerPointer> parts) : parts_(std::move(parts)) {}

 private:
  std::string rewrite(std::string text, std::size_t most) const override {
    for (const auto& part : parts_) text = part->apply(std::move(text), most);
    return text;
  }

  std::vector<NormalizerPointer> parts_;
};

class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : prefix_(std::move(prefix)) {}

 private:
  std::string rewrite(std::string text, std::size_t) const override { return text.empty() ? text : prefix_ + text; }

  std::string prefix_;
};

class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

 private:
  std::string rewrite(std::string text, std::size_t most) const override {
    PatternScan scan(pattern_, text);
    std::string replaced;
    std::size_t done = 0;
    while (const auto match = scan.next()) {
      replaced.append(text, done, match->begin - done).append(content_);
      check_normal_size(replaced.size(), most);
      done = match->end;
    }
    if (done == 0 && replaced.empty()) return text;
    return replaced.append(text, done);
  }

  Pattern pattern_;
  std::string content_;
};

/// One of the four normal forms of the Unicode standard.
class NormalForm final : public Normalizer {
 public:
  explicit NormalForm(int options) : options_(static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE)) {}

 private:
  std::string rewrite(std::string text, std::size_t) const override {
    if (ascii_prefix(text) == text.size()) return text;
    std::string normal;
    normal.reserve(text.size());
    for_each_stretch(
        text, [&](std::string_view stretch) { append_stretch(normal, stretch); },
        [&](std::string_view invalid) { normal.append(invalid); });
    return normal;
  }

  /// ASCII characters are normal already, and nothing before one combines with it: only what stands between them has
  /// to be looked at, with the one before, which may take an accent.
  void append_stretch(std::string& normal, std::string_view stretch) const {
    while (!stretch.empty()) {
      const auto n_ascii = ascii_prefix(stretch);
      if (n_ascii == stretch.size()) {
        normal.append(stretch);
        return;
      }
      const auto n_done = n_ascii > 0 ? n_ascii - 1 : 0;
      normal.append(stretch.substr(0, n_done));
      auto end = n_ascii;
      while (end < stretch.size() && static_cast<unsigned char>(stretch[end]) >= 0x80) ++end;
      append_normal(normal, stretch.substr(n_done, end - n_done));
      stretch.remove_prefix(end);
    }
  }

  void append_normal(std::string& normal, std::string_view text) const {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto n_bytes = static_cast<utf8proc_ssize_t>(text.size());
    // No character of n bytes decomposes into more than 18 others, and few into more than two.
    std::vector<utf8proc_int32_t> buffer(text.size() + 8);
    auto n = utf8proc_decompose(bytes, n_bytes, buffer.data(), static_cast<utf8proc_ssize_t>(buffer.size()), options_);
    if (n > static_cast<utf8proc_ssize_t>(buffer.size())) {
      buffer.resize(static_cast<std::size_t>(n));
      n = utf8proc_decompose(bytes, n_bytes, buffer.data(), n, options_);
    }
    if (n >= 0) n = utf8proc_normalize_utf32(buffer.data(), n, options_);
    if (n < 0) throw Error(ErrorCode::failed, std::string("normalizing text: ") + utf8proc_errmsg(n));
    for (utf8proc_ssize_t i = 0; i < n; ++i) append_utf8(normal, buffer[static_cast<std::size_t>(i)]);
  }

  utf8proc_option_t options_;
};

/// Writes each character anew, by a function that appends what shall stand in its place.
class CharacterNormalizer final : public Normalizer {
 public:
  using Rewrite = void (*)(std::string& text, std::int32_t codepoint);
  explicit CharacterNormalizer(Rewrite function) : rewrite_(function) {}

 private:
  std::string rewrite(std::string text, std::size_t) const override {
    std::string rewritten;
    rewritten.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const auto step = utf8_next(text, at);
      if (step.codepoint < 0)
        rewritten += text[at];
      else
        rewrite_(rewritten, step.codepoint);
      at += step.length;
    }
    return rewritten;
  }

  Rewrite rewrite_;
};

class StripNormalizer final : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}

 private:
  std::string rewrite(std::string text, std::size_t) const override {
    std::string_view rest = text;
    while (left_ && !rest.empty()) {
      const auto first = first_character(rest);
      if (!is_white_space(first.codepoint)) break;
      rest.remove_prefix(first.length);
    }
    while (right_ && !rest.empty()) {
      const auto last = last_character(rest);
      if (!is_white_space(last.codepoint)) break;
      rest.remove_suffix(last.length);
    }
    return std::string(rest);
  }

  bool left_;
  bool right_;
};

class ByteLevelNormalizer final : public Normalizer {
  std::string rewrite(std::string text, std::size_t) const override {
    std::string spelled;
    append_spelling(spelled, text);
    return spelled;
  }
};

NormalizerPointer make_sequence(const JsonReader& object) {
  std::vector<NormalizerPointer> parts;
  for (const auto& part : object.objects("normalizers")) parts.push_back(make_normalizer(part));
  return std::make_unique<SequenceNormalizer>(std::move(parts));
}

template <int options>
NormalizerPointer make_form(const JsonReader&) {
  return std::make_unique<NormalForm>(options);
}

template <CharacterNormalizer::Rewrite rewrite>
NormalizerPointer make_rewrite(const JsonReader&) {
  return std::make_unique<CharacterNormalizer>(rewrite);
}

NormalizerPointer make_prepend(const JsonReader& object) {
  return std::make_unique<PrependNormalizer>(object.text("prepend"));
}

NormalizerPointer make_replace(const JsonReader& object) {
  return std::make_unique<ReplaceNormalizer>(Pattern::read(object, "pattern"), object.text("content"));
}

NormalizerPointer make_strip(const JsonReader& object) {
  return std::make_unique<StripNormalizer>(object.boolean("strip_left"), object.boolean("strip_right"));
}

/// BERT's, which is several others one after the other.
NormalizerPointer make_bert(const JsonReader& object) {
  const bool lower = object.boolean("lowercase");
  std::vector<NormalizerPointer> parts;
  const auto add = [&](CharacterNormalizer::Rewrite rewrite) {
    parts.push_back(std::make_unique<CharacterNormalizer>(rewrite));
  };
  if (object.boolean("clean_text")) add(append_clean);
  if (object.boolean("handle_chinese_chars")) add(append_spaced_chinese);
  if (object.boolean_or("strip_accents", lower)) {
    parts.push_back(std::make_unique<NormalForm>(UTF8PROC_DECOMPOSE));
    add(append_unless_nonspacing);
  }
  if (lower) add(append_lower);
  return std::make_unique<SequenceNormalizer>(std::move(parts));
}

NormalizerPointer make_byte_level(const JsonReader&) { return std::make_unique<ByteLevelNormalizer>(); }

using Kind = ComponentKind<NormalizerPointer>;
constexpr std::array kinds = {
    Kind{"Sequence", make_sequence},
    Kind{"Prepend", make_prepend},
    Kind{"Replace", make_replace},
    Kind{"NFC", make_form<UTF8PROC_COMPOSE>},
    Kind{"NFD", make_form<UTF8PROC_DECOMPOSE>},
    Kind{"NFKC", make_form<UTF8PROC_COMPOSE | UTF8PROC_COMPAT>},
    Kind{"NFKD", make_form<UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT>},
    Kind{"Lowercase", make_rewrite<append_lower>},
    Kind{"StripAccents", make_rewrite<append_unless_mark>},
    Kind{"Strip", make_strip},
    Kind{"ByteLevel", make_byte_level},
    Kind{"Nmt", make_rewrite<append_nmt>},
    Kind{"Precompiled", make_precompiled_normalizer},
    Kind{"BertNormalizer", make_bert},
};

}  // namespace

void check_normal_size(std::size_t size, std::size_t most) {
  if (size > most)
    throw Error(
        ErrorCode::model,
        fmt::format("tokenizer: normalizer: expected rules that make at most {} bytes of this text, found more", most));
}

NormalizerPointer make_normalizer(const JsonReader& object) {
  return make_component(kinds, object.text("type"), object);
}

}  // namespace qkv::tokenizing
