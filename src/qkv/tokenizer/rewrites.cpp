#include "qkv/tokenizer/rewrites.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

struct Range {
  std::int32_t first;
  std::int32_t last;
};

template <std::size_t n>
bool is_in(const std::array<Range, n>& ranges, std::int32_t codepoint) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return codepoint >= range.first && codepoint <= range.last; });
}

constexpr std::array<Range, 6> nmt_nothing = {
    {{0x01, 0x08}, {0x0B, 0x0B}, {0x0E, 0x1F}, {0x7F, 0x7F}, {0x8F, 0x8F}, {0x9F, 0x9F}}};
constexpr std::array<Range, 8> nmt_space = {{{0x09, 0x0A},
                                             {0x0C, 0x0D},
                                             {0x1680, 0x1680},
                                             {0x200B, 0x200F},
                                             {0x2028, 0x2029},
                                             {0x2581, 0x2581},
                                             {0xFEFF, 0xFEFF},
                                             {0xFFFD, 0xFFFD}}};
constexpr std::array<Range, 8> chinese = {{{0x3400, 0x4DBF},
                                           {0x4E00, 0x9FFF},
                                           {0xF900, 0xFAFF},
                                           {0x20000, 0x2A6DF},
                                           {0x2A700, 0x2B73F},
                                           {0x2B740, 0x2B81F},
                                           {0x2B920, 0x2CEAF},
                                           {0x2F800, 0x2FA1F}}};

bool is_control(std::int32_t codepoint) {
  if (codepoint == '\t' || codepoint == '\n' || codepoint == '\r') return false;
  const auto category = utf8proc_category(codepoint);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

}  // namespace

void append_lower(std::string& text, std::int32_t codepoint) {
  append_utf8(text, utf8proc_tolower(codepoint));
  // The one character whose lower case is two: "İ" keeps its dot.
  constexpr std::int32_t capital_i_with_dot = 0x130;
  constexpr std::int32_t combining_dot_above = 0x307;
  if (codepoint == capital_i_with_dot) append_utf8(text, combining_dot_above);
}

void append_unless_mark(std::string& text, std::int32_t codepoint) {
  if (!is_mark(codepoint)) append_utf8(text, codepoint);
}

void append_unless_nonspacing(std::string& text, std::int32_t codepoint) {
  if (utf8proc_category(codepoint) != UTF8PROC_CATEGORY_MN) append_utf8(text, codepoint);
}

void append_nmt(std::string& text, std::int32_t codepoint) {
  if (!is_in(nmt_nothing, codepoint)) append_utf8(text, is_in(nmt_space, codepoint) ? ' ' : codepoint);
}

void append_clean(std::string& text, std::int32_t codepoint) {
  constexpr std::int32_t replacement_mark = 0xFFFD;
  if (codepoint == 0 || codepoint == replacement_mark || is_control(codepoint)) return;
  append_utf8(text, is_white_space(codepoint) ? ' ' : codepoint);
}

void append_spaced_chinese(std::string& text, std::int32_t codepoint) {
  const bool spaced = is_in(chinese, codepoint);
  if (spaced) text += ' ';
  append_utf8(text, codepoint);
  if (spaced) text += ' ';
}

}  // namespace qkv::tokenizing
