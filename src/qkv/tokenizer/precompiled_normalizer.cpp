#include "qkv/tokenizer/precompiled_normalizer.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <string>
#include <utility>

#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/charsmap.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

class PrecompiledNormalizer final : public Normalizer {
 public:
  explicit PrecompiledNormalizer(Charsmap rules) : rules_(std::move(rules)) {}

 private:
  std::string rewrite(std::string text, std::size_t most) const override {
    std::string normal;
    normal.reserve(text.size());
    for_each_stretch(
        text,
        [&](std::string_view stretch) {
          while (!stretch.empty()) {
            const auto length = grapheme_length(stretch);
            append_grapheme(normal, stretch.substr(0, length));
            check_normal_size(normal.size(), most);
            stretch.remove_prefix(length);
          }
        },
        [&](std::string_view invalid) { normal.append(invalid); });
    return normal;
  }

  /// How many bytes the first thing takes that a reader sees as one character.
  static std::size_t grapheme_length(std::string_view text) {
    const auto in_ascii = [&](std::size_t at) { return static_cast<unsigned char>(text[at]) < 0x80; };
    // In ASCII only a line end may be two.
    if (in_ascii(0) && text[0] != '\r' && (text.size() == 1 || in_ascii(1))) return 1;
    auto step = utf8_next(text, 0);
    utf8proc_int32_t state = 0;
    auto at = step.length;
    while (at < text.size()) {
      const auto next = utf8_next(text, at);
      if (utf8proc_grapheme_break_stateful(step.codepoint, next.codepoint, &state)) break;
      step = next;
      at += next.length;
    }
    return at;
  }

  /// A short grapheme is replaced as a whole by the rule for what it begins with, as the library does that defines the
  /// format; else character by character.
  void append_grapheme(std::string& normal, std::string_view grapheme) const {
    constexpr std::size_t short_enough = 5;
    if (grapheme.size() <= short_enough && append_replacement(normal, grapheme)) return;
    for (std::size_t at = 0; at < grapheme.size();) {
      const auto length = utf8_next(grapheme, at).length;
      const auto character = grapheme.substr(at, length);
      if (!append_replacement(normal, character)) normal.append(character);
      at += length;
    }
  }

  bool append_replacement(std::string& normal, std::string_view text) const {
    const auto rule = rules_.shortest(text);
    if (rule) normal.append(rule->replacement);
    return rule.has_value();
  }

  Charsmap rules_;
};

int base64_value(char digit) {
  if (digit >= 'A' && digit <= 'Z') return digit - 'A';
  if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
  if (digit >= '0' && digit <= '9') return digit - '0' + 52;
  if (digit == '+') return 62;
  return digit == '/' ? 63 : -1;
}

std::string read_base64(const JsonReader& object, std::string_view key) {
  const auto text = object.text(key);
  std::string_view digits = text;
  for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  if (text.size() % 4 != 0) object.fail(key, "Base64 in groups of four");
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned n_bits = 0;
  for (const char digit : digits) {
    const int value = base64_value(digit);
    if (value < 0) object.fail(key, "Base64");
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    bytes += static_cast<char>((bits >> n_bits) & 0xFFU);
  }
  return bytes;
}

}  // namespace

std::unique_ptr<const Normalizer> make_precompiled_normalizer(const JsonReader& object) {
  constexpr auto key = "precompiled_charsmap";
  return std::make_unique<PrecompiledNormalizer>(
      Charsmap(read_base64(object, key), fmt::format("{}: key '{}'", object.where(), key)));
}

}  // namespace qkv::tokenizing
