#include "qkv/tokenizer/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "qkv/core/utf8.hpp"

namespace qkv::tokenizing {
namespace {

bool in_ascii(std::int32_t codepoint) { return codepoint >= 0 && codepoint < 0x80; }

}  // namespace

bool is_white_space(std::int32_t codepoint) {
  if (in_ascii(codepoint)) return codepoint == ' ' || (codepoint >= '\t' && codepoint <= '\r');
  if (codepoint < 0) return false;
  if (codepoint == 0x85) return true;
  const auto category = utf8proc_category(codepoint);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool is_numeric(std::int32_t codepoint) {
  if (in_ascii(codepoint)) return codepoint >= '0' && codepoint <= '9';
  if (codepoint < 0) return false;
  const auto category = utf8proc_category(codepoint);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(std::int32_t codepoint) {
  if (in_ascii(codepoint)) {
    const auto between = [codepoint](int first, int last) { return codepoint >= first && codepoint <= last; };
    return between('!', '/') || between(':', '@') || between('[', '`') || between('{', '~');
  }
  if (codepoint < 0) return false;
  const auto category = utf8proc_category(codepoint);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_word(std::int32_t codepoint) {
  if (codepoint < 0) return false;
  constexpr std::int32_t zero_width_non_joiner = 0x200C;
  constexpr std::int32_t zero_width_joiner = 0x200D;
  if (codepoint == zero_width_non_joiner || codepoint == zero_width_joiner) return true;
  const auto category = utf8proc_category(codepoint);
  // Circled letters are alphabetic, though their category says "symbol".
  const bool circled = (codepoint >= 0x24B6 && codepoint <= 0x24E9) || (codepoint >= 0x1F130 && codepoint <= 0x1F149) ||
                       (codepoint >= 0x1F150 && codepoint <= 0x1F169) || (codepoint >= 0x1F170 && codepoint <= 0x1F189);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ND) || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_PC || circled;
}

bool is_mark(std::int32_t codepoint) {
  if (codepoint < 0) return false;
  const auto category = utf8proc_category(codepoint);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

std::size_t ascii_prefix(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080U;
  std::size_t at = 0;
  for (std::uint64_t eight = 0; at + sizeof(eight) <= text.size(); at += sizeof(eight)) {
    std::memcpy(&eight, text.data() + at, sizeof(eight));
    if ((eight & high_bits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

std::size_t valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    at += ascii_prefix(text.substr(at));
    // Text that is not ASCII is seldom so for one character only.
    while (at < text.size() && static_cast<unsigned char>(text[at]) >= 0x80) {
      const auto step = utf8_next(text, at);
      if (step.codepoint < 0) return at;
      at += step.length;
    }
  }
  return at;
}

std::size_t invalid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && utf8_next(text, at).codepoint < 0) ++at;
  return at;
}

std::size_t count_characters(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size(); at += utf8_next(text, at).length) ++n;
  return n;
}

Character first_character(std::string_view text) {
  const auto step = utf8_next(text, 0);
  return {step.codepoint, step.length};
}

Character last_character(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(text.size(), 4); ++back) {
    const auto step = utf8_next(text, text.size() - back);
    if (step.length == back && step.codepoint >= 0) return {step.codepoint, back};
  }
  return {-1, 1};
}

}  // namespace qkv::tokenizing
