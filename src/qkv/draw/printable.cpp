#include "qkv/draw/printable.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <array>
#include <vector>

#include "qkv/core/utf8.hpp"

namespace qkv::draw {
namespace {

constexpr std::string_view ellipsis = "\u2026";
constexpr std::string_view open_box = "\u2423";
constexpr std::string_view dotted_circle = "\u25CC";
constexpr std::size_t longest_stack = 32;  // bytes of one character with its marks

bool is_mark(std::int32_t codepoint) {
  const auto category = utf8proc_category(codepoint);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
}

bool is_joiner(std::int32_t codepoint) { return codepoint == 0x200C || codepoint == 0x200D; }

/// Whether a reader would not see the character as such: spaces of other kinds, format and direction controls, line and
/// paragraph separators, code points that mean nothing. Joiners are kept inside a token: emoji and some scripts need
/// them.
bool needs_name(std::int32_t codepoint, bool inside) {
  if (is_joiner(codepoint)) return !inside;
  switch (utf8proc_category(codepoint)) {
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
      return true;
    case UTF8PROC_CATEGORY_ZS:
      return codepoint != ' ';
    default:
      return false;
  }
}

/// The text in pieces that are shown whole or not at all: characters with the marks that stand on them, and escapes.
std::vector<std::string> printable_pieces(std::string_view bytes, std::string_view space) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto step = utf8_next(bytes, at);
    const auto character = bytes.substr(at, step.length);
    const bool first = at == 0;
    at += step.length;
    if (step.codepoint < 0) {
      pieces.push_back(escape_controls(character));
    } else if (step.codepoint == ' ') {
      pieces.emplace_back(space);
    } else if (needs_name(step.codepoint, !first && at < bytes.size())) {
      pieces.push_back(fmt::format("U+{:04X}", step.codepoint));
    } else if (is_mark(step.codepoint) || is_joiner(step.codepoint)) {
      if (pieces.empty()) pieces.emplace_back(dotted_circle);
      if (pieces.back().size() + character.size() <= longest_stack) pieces.back() += character;
    } else {
      pieces.push_back(escape_controls(character));
    }
  }
  return pieces;
}

std::string shortened(const std::vector<std::string>& pieces, std::size_t columns) {
  std::string text;
  std::size_t width = 0;
  std::size_t fitting = 0;  // bytes of `text` that leave room for the ellipsis
  for (const auto& piece : pieces) {
    width += display_width(piece);
    if (width > columns) return text.substr(0, fitting).append(ellipsis);
    text += piece;
    if (width < columns) fitting = text.size();
  }
  return text;
}

}  // namespace

std::string printable_label(std::string_view bytes, std::size_t columns) {
  return shortened(printable_pieces(bytes, open_box), columns);
}

std::string printable_text(std::string_view bytes, std::size_t columns) {
  return shortened(printable_pieces(bytes, " "), columns);
}

}  // namespace qkv::draw
