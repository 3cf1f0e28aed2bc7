#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "qkv/core/base64.hpp"

namespace qkv {

/// How the page holds its numbers, always as characters of the base64 alphabet (A-Z a-z 0-9 + /).
enum class HtmlCode {
  f32,   // base64 of the little-endian float32: exact
  dec4,  // three characters a number 0 .. 1: the 18 bits of html_dec4, most significant first
  dec5,  // four characters a number: the 24 bits of html_dec5, most significant first
};

/// "f32"
[[nodiscard]] std::string_view name_of(HtmlCode code);

/// Exact numbers while `cells` of them stay small; otherwise numbers rounded to four decimal digits or more. Attention
/// weights are between 0 and 1, which saves a character a number.
[[nodiscard]] HtmlCode choose_html_code(std::string_view what, std::int64_t cells);

/// A number 0 .. 1 rounded to four significant decimal digits, in 18 bits, so that what is shown is the number rounded
/// once. Codes: 0 for 0, 1 for what is above 0 and below 1e-29, 2 for what is no number 0 .. 1, 3 for 1 (and a sum that
/// rounded to a little more); from 4 on 4 + 9000 e + (m - 1000) for m * 10^(-4 - e), m = 1000 .. 9999, e = 0 .. 28.
[[nodiscard]] std::uint32_t html_dec4(float number);

/// Any float32 rounded to five significant decimal digits, in 24 bits. Codes: 0 for 0, 1 for not a number, 2 and 3 for
/// the infinities of sign + and -; from 4 on 4 + 90000 (2 e + s) + (m - 10000) for (-1)^s * m * 10^(e - 50),
/// m = 10000 .. 99999, e = 0 .. 92.
[[nodiscard]] std::uint32_t html_dec5(float number);

/// Packs the numbers of one block after the other.
class HtmlPacker {
 public:
  explicit HtmlPacker(HtmlCode code) : code_(code) {}

  void append(std::span<const float> numbers, std::string& text);
  /// Ends a block.
  void finish(std::string& text) { base64_.finish(text); }

 private:
  HtmlCode code_;
  Base64 base64_;
};

}  // namespace qkv
