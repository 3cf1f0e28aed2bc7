#include "qkv/generate/stop_matcher.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace qkv::test {
namespace {

using Texts = std::vector<std::string>;

/// All that is shown of a text that comes in these pieces.
std::string shown(const Texts& stops, const Texts& pieces) {
  StopMatcher matcher(stops);
  std::string text;
  for (const auto& piece : pieces) text += matcher.push(piece);
  return text + matcher.finish();
}

Texts bytes_of_text(const std::string& text) {
  Texts pieces;
  for (const auto byte : text) pieces.emplace_back(1, byte);
  return pieces;
}

/// Whether each way to cut the text into pieces shows the same.
bool same_in_every_cut(const Texts& stops, const std::string& text) {
  const auto expected = shown(stops, bytes_of_text(text));
  for (unsigned cut = 0; cut < 1U << (text.size() - 1); ++cut) {
    Texts pieces(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      pieces.back() += text[i];
      if ((cut >> i & 1U) != 0) pieces.emplace_back();
    }
    if (shown(stops, pieces) != expected) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("without stop texts everything is shown at once", "[generate]") {
  StopMatcher matcher({});
  CHECK(matcher.push("abc") == "abc");
  CHECK(matcher.push("") == "");
  CHECK_FALSE(matcher.found());
  CHECK(matcher.finish() == "");
}

TEST_CASE("a stop text ends what is shown, however it comes", "[generate]") {
  for (const auto& pieces : {Texts{"one END two"}, Texts{"one E", "ND two"}, Texts{"one ", "E", "N", "D", " two"},
                             bytes_of_text("one END two")}) {
    StopMatcher matcher({"END"});
    std::string text;
    for (const auto& piece : pieces) text += matcher.push(piece);
    CHECK(text == "one ");
    CHECK(matcher.found());
    CHECK(matcher.finish() == "");
    CHECK(matcher.push("more") == "");
  }
}

TEST_CASE("what may be the beginning of a stop text is held, and shown when it was not", "[generate]") {
  StopMatcher matcher({"END"});
  CHECK(matcher.push("a E") == "a ");
  CHECK(matcher.push("N") == "");
  CHECK(matcher.push("x") == "ENx");
  CHECK(matcher.push("EEN") == "E");
  CHECK(matcher.push("EN") == "EN");
  CHECK_FALSE(matcher.found());
  CHECK(matcher.finish() == "EN");
  CHECK(matcher.finish() == "");
}

TEST_CASE("a stop text at the very start leaves nothing", "[generate]") {
  CHECK(shown({"END"}, {"END"}) == "");
  CHECK(shown({"END"}, {"EN", "D and more"}) == "");
  CHECK(shown({"\n"}, {"\n"}) == "");
}

TEST_CASE("a stop text that repeats itself is found at its first place", "[generate]") {
  CHECK(shown({"aab"}, bytes_of_text("aaab")) == "a");
  CHECK(shown({"abab"}, bytes_of_text("abaabab!")) == "aba");
  CHECK(shown({"aa"}, {"a", "a"}) == "");
}

TEST_CASE("of several stop texts the one that is whole first counts", "[generate]") {
  CHECK(shown({"two", "one"}, {"zero one two"}) == "zero ");
  CHECK(shown({"user:", "\n\n"}, {"hello\n", "\nuser:"}) == "hello");
  CHECK(shown({"abc", "b"}, {"x", "a", "b", "c"}) == "xa");
  CHECK(shown({"b", "ab"}, {"xab"}) == "x");
}

TEST_CASE("what is shown does not depend on how the text is cut into pieces", "[generate]") {
  for (const auto& stops : {Texts{"abc", "b"}, Texts{"ab", "abc"}, Texts{"bc", "abcd", "cd"}, Texts{"aa", "aba"},
                            Texts{"abcab", "ca"}, Texts{"c", "bcd"}})
    for (const auto* text : {"abcabcab", "aabcdabc", "ababaab", "xxabcd", "aaaaaa", "bcbcd"}) {
      CAPTURE(stops, text);
      CHECK(same_in_every_cut(stops, text));
    }
}

}  // namespace qkv::test
