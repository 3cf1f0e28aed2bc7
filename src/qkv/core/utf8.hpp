#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qkv {

/// One step through text that may hold any bytes.
struct Utf8Step {
  std::int32_t codepoint;  // -1 where the bytes are not UTF-8
  std::size_t length;      // bytes taken, at least 1; an invalid byte is taken alone
};

/// The character that starts at `offset` < text.size().
[[nodiscard]] Utf8Step utf8_next(std::string_view text, std::size_t offset);

[[nodiscard]] bool is_valid_utf8(std::string_view text);

/// How many bytes of `text`, from its start, hold no character that is cut off at the end. Invalid bytes that no
/// further byte could complete count as whole.
[[nodiscard]] std::size_t whole_characters(std::string_view text);

/// `text` with U+FFFD for each byte that is not part of a character.
[[nodiscard]] std::string replace_invalid_utf8(std::string_view text);

/// Columns that the text takes on a terminal: two for wide characters, none for combining marks.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` on one line: control characters and invalid bytes as \n, \t or \xHH, a backslash as it is.
[[nodiscard]] std::string escape_controls(std::string_view text);

/// Appends `codepoint` (a valid scalar value) to `text`.
void append_utf8(std::string& text, std::int32_t codepoint);

}  // namespace qkv
