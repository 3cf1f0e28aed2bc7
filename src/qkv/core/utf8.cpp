#include "qkv/core/utf8.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace qkv {

Utf8Step utf8_next(std::string_view text, std::size_t offset) {
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte < 0x80) return {byte, 1};
  const auto available = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - offset, 4));
  utf8proc_int32_t codepoint = -1;
  const auto taken =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + offset), available, &codepoint);
  if (taken <= 0) return {-1, 1};
  return {codepoint, static_cast<std::size_t>(taken)};
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8_next(text, at);
    if (step.codepoint < 0) return false;
    at += step.length;
  }
  return true;
}

namespace {

/// How many bytes the character needs that starts with this byte; 0 for a byte that starts none.
std::size_t expected_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

/// Whether a continuation byte may come second: some would make an overlong form, a surrogate, or too large a number.
bool may_be_second(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

}  // namespace

std::size_t whole_characters(std::string_view text) {
  const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  for (std::size_t back = 1; back <= std::min<std::size_t>(text.size(), 3); ++back) {
    const auto at = text.size() - back;
    if (is_continuation(text[at])) continue;
    const auto lead = static_cast<unsigned char>(text[at]);
    const bool open =
        expected_length(lead) > back && (back == 1 || may_be_second(lead, static_cast<unsigned char>(text[at + 1])));
    return open ? at : text.size();
  }
  return text.size();
}

void append_utf8(std::string& text, std::int32_t codepoint) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(codepoint, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8_next(text, at);
    if (step.codepoint < 0)
      append_utf8(valid, 0xFFFD);
    else
      valid.append(text.substr(at, step.length));
    at += step.length;
  }
  return valid;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8_next(text, at);
    if (step.codepoint < 0)
      ++width;
    else
      width += static_cast<std::size_t>(utf8proc_charwidth(step.codepoint));
    at += step.length;
  }
  return width;
}

std::string escape_controls(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8_next(text, at);
    const auto bytes = text.substr(at, step.length);
    const bool hidden = step.codepoint < 0 || utf8proc_category(step.codepoint) == UTF8PROC_CATEGORY_CC;
    at += step.length;
    if (bytes == "\n")
      line += "\\n";
    else if (bytes == "\t")
      line += "\\t";
    else if (hidden)
      for (const auto byte : bytes) line += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    else
      line += bytes;
  }
  return line;
}

}  // namespace qkv
