#include "qkv/core/utf8.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace qkv::test {
namespace {

/// Characters of one to four bytes, first and last of each length.
const std::vector<std::string> characters{"a",
                                          "\x7F",
                                          "\xC2\x80",
                                          "\xC3\xA9",
                                          "\xDF\xBF",
                                          "\xE0\xA0\x80",
                                          "\xE2\x82\xAC",
                                          "\xED\x9F\xBF",
                                          "\xEE\x80\x80",
                                          "\xEF\xBF\xBF",
                                          "\xF0\x90\x80\x80",
                                          "\xF0\x9F\x98\x80",
                                          "\xF4\x8F\xBF\xBF"};

/// Bytes that begin no character, however they go on.
const std::vector<std::string> hopeless{"\x80",     "\xBF",         "\xC0",     "\xC1",     "\xF5",
                                        "\xFF",     "\xC0\x80",     "\xE0\x80", "\xE0\x9F", "\xED\xA0",
                                        "\xF0\x80", "\xF0\x8F\xBF", "\xF4\x90", "\xF5\x80", "\x80\x80\x80\x80"};

}  // namespace

TEST_CASE("a text is whole up to the character that is cut off", "[core]") {
  for (const auto& before : {std::string(), std::string("x"), std::string("\xE2\x82\xAC"), std::string("\xFF")})
    for (const auto& character : characters)
      for (std::size_t length = 0; length <= character.size(); ++length) {
        const auto text = before + character.substr(0, length);
        CAPTURE(before, character, length);
        CHECK(whole_characters(text) == (length == character.size() ? text.size() : before.size()));
      }
}

TEST_CASE("bytes that no further byte can complete count as whole", "[core]") {
  for (const auto& bytes : hopeless) {
    CAPTURE(bytes.size(), static_cast<int>(static_cast<unsigned char>(bytes[0])));
    CHECK(whole_characters(bytes) == bytes.size());
    CHECK(whole_characters("ok" + bytes) == bytes.size() + 2);
    CHECK(whole_characters(bytes + "a") == bytes.size() + 1);
    CHECK_FALSE(is_valid_utf8(bytes));
  }
  CHECK(whole_characters("") == 0);
}

TEST_CASE("steps take whole characters, and invalid bytes one by one", "[core]") {
  for (const auto& character : characters) {
    const auto step = utf8_next("z" + character + "z", 1);
    CHECK(step.length == character.size());
    CHECK(step.codepoint >= 0);
    std::string again;
    append_utf8(again, step.codepoint);
    CHECK(again == character);
    CHECK(is_valid_utf8(character));
  }
  for (const auto& bytes : hopeless) {
    const auto step = utf8_next(bytes, 0);
    CHECK(step.length == 1);
    CHECK(step.codepoint == -1);
  }
}

TEST_CASE("what is not UTF-8 is replaced byte by byte, the rest kept", "[core]") {
  const std::string mark = "\xEF\xBF\xBD";
  std::string all;
  for (const auto& character : characters) all += character;
  CHECK(replace_invalid_utf8(all) == all);
  CHECK(replace_invalid_utf8("") == "");
  CHECK(replace_invalid_utf8("a\xFF"
                             "b") == "a" + mark + "b");
  CHECK(replace_invalid_utf8("\xE2\x82") == mark + mark);  // cut off
  CHECK(replace_invalid_utf8("\xE2\x82"
                             "a") == mark + mark + "a");              // broken off
  CHECK(replace_invalid_utf8("\xED\xA0\x80") == mark + mark + mark);  // a surrogate
  CHECK(replace_invalid_utf8(std::string("\0x", 2)) == std::string("\0x", 2));
  for (const auto& bytes : hopeless) CHECK(is_valid_utf8(replace_invalid_utf8("a" + bytes + "\xC3\xA9")));
}

}  // namespace qkv::test
