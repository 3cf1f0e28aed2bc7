#include "qkv/tokenizer/pattern.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using tokenizing::Pattern;

Texts matches(const Pattern& pattern, std::string_view text) {
  Texts found;
  tokenizing::PatternScan scan(pattern, text);
  while (const auto match = scan.next()) found.emplace_back(text.substr(match->begin, match->end - match->begin));
  return found;
}

Texts matches(const std::string& expression, std::string_view text) {
  return matches(Pattern::regex(expression, "sample"), text);
}

}  // namespace

TEST_CASE("fixed strings are found side by side", "[tokenizer]") {
  CHECK(matches(Pattern::literal("aa"), "aaaaa") == Texts{"aa", "aa"});
  CHECK(matches(Pattern::literal("."), "a.b") == Texts{"."});
  CHECK(matches(Pattern::literal(""), "abc").empty());
  CHECK(matches(Pattern::literal(std::string(1, '\0')), std::string_view("a\0b\0", 4)).size() == 2);
}

TEST_CASE("the classes are those of Unicode", "[tokenizer]") {
  CHECK(matches("\\p{L}+", "né3日本") == Texts{"né", "日本"});
  CHECK(matches("\\p{N}+", "x٣²Ⅷy") == Texts{"٣²Ⅷ"});
  CHECK(matches("\\s", "a\u00a0b\u3000c\u0085").size() == 3);
  CHECK(matches("\\s", "\u180e\u200b").empty());
  CHECK(matches("[^\\s]", " \u180e ") == Texts{"\u180e"});
  CHECK(matches("\\w+", "e\u0301_\u203f②") == Texts{"e\u0301_\u203f"});
  CHECK(matches("\\w", "³") == Texts{"³"});
  CHECK(matches("[\\w]", "³").empty());
  CHECK(matches("\\W+", "ab-+c") == Texts{"-+"});
  CHECK(matches("\\h+", "x1F fg\t") == Texts{"1F", "f"});
  CHECK(matches("[[:punct:]]", "a$—b") == Texts{"$", "—"});
  CHECK(matches("\\p{Han}+", "漢字。かな") == Texts{"漢字"});
  CHECK(matches("(?i:'s)", "'S 'ſ") == Texts{"'S", "'ſ"});
  CHECK(matches("\\bt\\w+", "a\u0301tx ty") == Texts{"ty"});
}

TEST_CASE("quantifiers mean what they mean in Ruby's syntax", "[tokenizer]") {
  CHECK(matches("a{1,2}+", "aaaaa") == Texts{"aaaaa"});
  CHECK(matches("(?:ab){2}+c", "ababababc") == Texts{"ababababc"});
  CHECK(matches("b{2}?x", "bbx bx") == Texts{"bbx", "x"});
  CHECK(matches("a++b", "aab") == Texts{"aab"});
  CHECK(matches("a{,b", "a{,b") == Texts{"a{,b"});
  CHECK(matches("^.", "ab\ncd") == Texts{"a", "c"});
}

TEST_CASE("escapes are kept, written anew or part of a set", "[tokenizer]") {
  CHECK(matches("\\u00e9", "é") == Texts{"é"});
  CHECK(matches("[\\u4e00-\\u4e02]+", "一丂x") == Texts{"一丂"});
  CHECK(matches("[\\]\\[]+", "a[]b") == Texts{"[]"});
  CHECK(matches("[]a]+", "]a") == Texts{"]a"});
  CHECK(matches("\\(\\{", "({") == Texts{"({"});
}

TEST_CASE("empty matches split, but never hold the search up", "[tokenizer]") {
  CHECK(matches("(?=b)", "abab").size() == 2);
  CHECK(matches("x*", "axxb") == Texts{"", "xx", ""});
  CHECK(matches("(?=é)", "éaé").size() == 2);
}

TEST_CASE("no match reaches into bytes that are not UTF-8", "[tokenizer]") {
  CHECK(matches("[^a]+", "xy\xFFz\xC3") == Texts{"xy", "z"});
  CHECK(matches(".+", "\xFF\xFE").empty());
  CHECK(matches("\\s+(?!\\S)", "  \xFFx") == Texts{"  "});
  CHECK(matches(".+", "\xF0\x9F\x98") == Texts{});
  CHECK(matches("é", "\xC3\xA9\xC3\xC3\xA9").size() == 2);
}

TEST_CASE("an expression that cannot be used is refused", "[tokenizer]") {
  const auto refused = [](const std::string& expression, const std::string& part) {
    check_refused(ErrorCode::model, [&] { (void)Pattern::regex(expression, "file: key 'Regex'"); },
                  {"file: key 'Regex'", part});
  };
  refused("(a", "missing");
  refused("a)", "found \"a)\"");
  refused("[a", "found \"[a\"");
  refused("[a&&b]", "intersection");
  refused("[a[bc]]", "set inside a set");
  refused("[\\W]", "\\W");
  refused("[[:nonsense:]]", "named class");
  refused("\\p{Nonsense}", "unknown property");
  refused("*a", "quantifier");
  refused("\\", "end of pattern");
}

TEST_CASE("an expression that never ends is given up", "[tokenizer]") {
  const auto pattern = Pattern::regex("(a|aa)+$", "file: key 'Regex'");
  const auto text = std::string(80, 'a') + 'b';
  check_refused(ErrorCode::model, [&] { (void)matches(pattern, text); }, {"file: key 'Regex'", "limit"});
}

TEST_CASE("a search that wants gigabytes is refused", "[tokenizer]") {
  std::string expression;
  for (int i = 0; i < 400; ++i) expression += "()";
  expression += "(?:a|b)+c";  // each character keeps what all the groups hold
  CHECK(matches(expression, "abac") == Texts{"abac"});
  check_refused(ErrorCode::model, [&] { (void)matches(expression, std::string(200'000, 'a') + "c"); },
                {"sample", "limit"});
}

}  // namespace qkv::test
