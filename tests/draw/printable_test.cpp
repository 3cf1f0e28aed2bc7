#include "qkv/draw/printable.hpp"

#include <string>
#include <string_view>

#include "qkv/core/utf8.hpp"
#include "support/catch.hpp"

namespace qkv::draw {
namespace {

using namespace std::string_literals;

TEST_CASE("a label shows what cannot be seen", "[draw]") {
  CHECK(printable_label(" dog", 18) == "\u2423dog");
  CHECK(printable_label("dog", 18) == "dog");
  CHECK(printable_label("   ", 18) == "\u2423\u2423\u2423");
  CHECK(printable_label("\n\t\r", 18) == "\\n\\t\\x0D");
  CHECK(printable_label("a\0b"s, 18) == "a\\x00b");
  CHECK(printable_label("\xFF\xC3", 18) == "\\xFF\\xC3");
  CHECK(printable_label("\u00A0", 18) == "U+00A0");
  CHECK(printable_label("\u200B", 18) == "U+200B");
  CHECK(printable_label("\uFEFF", 18) == "U+FEFF");
  CHECK(printable_label("\u2028", 18) == "U+2028");
  CHECK(printable_label("\uFFFF", 18) == "U+FFFF");
  CHECK(printable_text("two words", 18) == "two words");
}

TEST_CASE("a label cannot turn the direction of the text", "[draw]") {
  for (const auto* control : {"\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069",
                              "\u200E", "\u200F", "\u061C"}) {
    const auto label = printable_label("a"s + control + "b", 18);
    CHECK(label.find(control) == std::string::npos);
    CHECK(label.find("U+") == 1);
  }
}

TEST_CASE("letters of any script stay", "[draw]") {
  for (const auto* text : {"\u4F60\u597D", "\u0645\u0631\u062D\u0628\u0627", "caf\u00E9", "e\u0301", "\U0001F600",
                           "\U0001F468\u200D\U0001F469\u200D\U0001F467", "</text>", "\"'&<>", "\\"})
    CHECK(printable_label(text, 18) == text);
}

TEST_CASE("a mark gets something to stand on, and a joiner something to join", "[draw]") {
  CHECK(printable_label("\u0301x", 18) == "\u25CC\u0301x");
  CHECK(printable_label("\u200Dx", 18) == "U+200Dx");
  std::string tower = "a";
  for (int i = 0; i < 1000; ++i) tower += "\u0301";
  CHECK(printable_label(tower, 18).size() < 40);
}

TEST_CASE("a long label is cut between characters", "[draw]") {
  CHECK(printable_label("0123456789", 10) == "0123456789");
  CHECK(printable_label("0123456789a", 10) == "012345678\u2026");
  CHECK(printable_label("\u4F60\u4F60\u4F60\u4F60", 6) == "\u4F60\u4F60\u2026");
  CHECK(printable_label("abcdefgh\xFFxyz", 10) == "abcdefgh\u2026");  // an escape is not cut in two
  CHECK(printable_label("12345e\u0301789", 7) == "12345e\u0301\u2026");
  const auto cut = printable_label(std::string(100000, 'x'), 18);
  CHECK(display_width(cut) == 18);
}

TEST_CASE("every byte string becomes printable UTF-8 on one line", "[draw]") {
  std::uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
      state = state * 1664525U + 1013904223U;
      bytes += static_cast<char>(state >> 24U);
    }
    const auto label = printable_label(bytes, 18);
    CHECK(is_valid_utf8(label));
    CHECK(display_width(label) <= 18);
    for (const auto c : label) CHECK(static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace
}  // namespace qkv::draw
