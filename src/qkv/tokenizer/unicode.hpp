#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace qkv::tokenizing {

/// White_Space of the Unicode standard.
[[nodiscard]] bool is_white_space(std::int32_t codepoint);
/// Any number: decimal digits, letters and other signs that stand for one (general categories Nd, Nl, No).
[[nodiscard]] bool is_numeric(std::int32_t codepoint);
/// Unicode punctuation (general categories P*) and every ASCII character that is neither letter, digit, space nor
/// control, "$" and "+" included.
[[nodiscard]] bool is_punctuation(std::int32_t codepoint);
/// Letters, marks, decimal digits and connectors: what words are made of.
[[nodiscard]] bool is_word(std::int32_t codepoint);
/// Any mark (general categories Mn, Mc, Me): what accents are made of.
[[nodiscard]] bool is_mark(std::int32_t codepoint);

/// How many bytes of `text`, from its start, are ASCII.
[[nodiscard]] std::size_t ascii_prefix(std::string_view text);
/// How many bytes of `text`, from its start, are valid UTF-8.
[[nodiscard]] std::size_t valid_prefix(std::string_view text);
/// How many bytes of `text`, from its start, are not part of any valid UTF-8 character.
[[nodiscard]] std::size_t invalid_prefix(std::string_view text);

/// How many characters `text` holds; a byte that is part of none counts as one.
[[nodiscard]] std::size_t count_characters(std::string_view text);

/// Calls `on_valid` and `on_invalid` with the longest stretches of valid UTF-8 and of other bytes, in order.
template <typename OnValid, typename OnInvalid>
void for_each_stretch(std::string_view text, OnValid&& on_valid, OnInvalid&& on_invalid) {
  while (!text.empty()) {
    if (const auto length = valid_prefix(text); length > 0) {
      on_valid(text.substr(0, length));
      text.remove_prefix(length);
    }
    if (const auto length = invalid_prefix(text); length > 0) {
      on_invalid(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
}

/// The first and the last character of a text that is not empty; -1 for a byte that is not UTF-8.
struct Character {
  std::int32_t codepoint;
  std::size_t length;
};
[[nodiscard]] Character first_character(std::string_view text);
[[nodiscard]] Character last_character(std::string_view text);

}  // namespace qkv::tokenizing
