// Base64 and hexadecimal digits.

#include <string>

#include "qkv/core/base64.hpp"
#include "qkv/core/hexadecimal.hpp"
#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("base64 of the examples in RFC 4648, whole and byte by byte", "[core]") {
  const std::string text = "foobar";
  const std::string expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  Base64 base64;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    CAPTURE(length);
    CHECK(to_base64(text.substr(0, length)) == expected[length]);
    std::string piecewise;
    for (const auto byte : text.substr(0, length)) base64.put(static_cast<unsigned char>(byte), piecewise);
    base64.finish(piecewise);
    CHECK(piecewise == expected[length]);
  }
  CHECK(to_base64(std::string("\xFB\xFF\x00", 3)) == "+/8A");
}

TEST_CASE("bits as base64 characters, the most significant first", "[core]") {
  std::string text = "x";
  put_base64(0b000000'011010'111111, 3, text);
  CHECK(text == "xAa/");
}

TEST_CASE("hexadecimal digits in either case, and nothing else", "[core]") {
  const std::string digits = "0123456789abcdef";
  for (int code = 0; code < 256; ++code) {
    const auto digit = static_cast<char>(code);
    const auto lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
    const auto at = digits.find(lower);
    CAPTURE(code);
    CHECK(hex_digit(digit) == (at == std::string::npos ? -1 : static_cast<int>(at)));
  }
}

}  // namespace qkv::test
