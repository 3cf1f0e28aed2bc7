#include "qkv/tokenizer/pre_tokenizer.hpp"

#include <string>

#include "support/catch.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

Texts pieces(const json& object, const std::string& text, bool at_start = true) {
  Texts found;
  tokenizing::make_pre_tokenizer(reader_of(object))->split({text, at_start}, [&](const tokenizing::Piece& piece) {
    found.emplace_back(piece.text);
  });
  return found;
}

Texts split(const std::string& expression, const std::string& behavior, const std::string& text, bool invert = false) {
  return pieces({{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", behavior}, {"invert", invert}},
                text);
}

json byte_level(bool add_prefix_space, bool use_regex = true) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"use_regex", use_regex}};
}

json metaspace(const std::string& scheme, bool split = true) {
  return {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", split}};
}

}  // namespace

TEST_CASE("byte-level words", "[tokenizer]") {
  CHECK(pieces(byte_level(false), "Hello world") == Texts{"Hello", "Ġworld"});
  CHECK(pieces(byte_level(false), "I'm 12ab!?") == Texts{"I", "'m", "Ġ12", "ab", "!?"});
  // The last blank of a run goes to the word after it.
  CHECK(pieces(byte_level(false), "a   b  ") == Texts{"a", "ĠĠ", "Ġb", "ĠĠ"});
  CHECK(pieces(byte_level(false), "a\n\nb") == Texts{"a", "Ċ", "Ċ", "b"});
  CHECK(pieces(byte_level(false), "é") == Texts{"Ã©"});
  CHECK(pieces(byte_level(false), "I'M") == Texts{"I", "'", "M"});
}

TEST_CASE("byte-level prefix space", "[tokenizer]") {
  CHECK(pieces(byte_level(true), "a b") == Texts{"Ġa", "Ġb"});
  CHECK(pieces(byte_level(true), " a") == Texts{"Ġa"});
  CHECK(pieces(byte_level(true, false), "a b") == Texts{"ĠaĠb"});
  CHECK(pieces(byte_level(false, false), "a b") == Texts{"aĠb"});
}

TEST_CASE("byte-level takes bytes that are not UTF-8", "[tokenizer]") {
  CHECK(pieces(byte_level(false), "a\xFF\xFEz") == Texts{"a", "ÿþ", "z"});
  CHECK(pieces(byte_level(false), std::string("\0", 1)) == Texts{"Ā"});
  CHECK(pieces(byte_level(false), "\xC3") == Texts{"Ã"});
}

TEST_CASE("the five things a split does with a delimiter", "[tokenizer]") {
  const std::string text = "a--b-c";
  CHECK(split("-", "Isolated", text) == Texts{"a", "-", "-", "b", "-", "c"});
  CHECK(split("-", "Removed", text) == Texts{"a", "b", "c"});
  CHECK(split("-", "MergedWithPrevious", text) == Texts{"a-", "-", "b-", "c"});
  CHECK(split("-", "MergedWithNext", text) == Texts{"a", "-", "-b", "-c"});
  CHECK(split("-", "Contiguous", text) == Texts{"a", "--", "b", "-", "c"});
  CHECK(split("-", "MergedWithPrevious", "-a") == Texts{"-", "a"});
  CHECK(split("-", "MergedWithNext", "a-") == Texts{"a", "-"});
}

TEST_CASE("an inverted split keeps the matches", "[tokenizer]") {
  CHECK(split("[a-z]+", "Removed", "ab, cd", true) == Texts{"ab", "cd"});
  CHECK(split("[a-z]+", "MergedWithPrevious", "ab, cd", true) == Texts{"ab, ", "cd"});
}

TEST_CASE("a split at a fixed string, and at places", "[tokenizer]") {
  CHECK(pieces({{"type", "Split"}, {"pattern", {{"String", ".."}}}, {"behavior", "Isolated"}, {"invert", false}},
               "a...b") == Texts{"a", "..", ".b"});
  CHECK(split("(?=[A-Z])", "Isolated", "aBcD") == Texts{"a", "Bc", "D"});
}

TEST_CASE("digits", "[tokenizer]") {
  CHECK(pieces({{"type", "Digits"}, {"individual_digits", true}}, "a12Ⅷb") == Texts{"a", "1", "2", "Ⅷ", "b"});
  CHECK(pieces({{"type", "Digits"}, {"individual_digits", false}}, "a12b3") == Texts{"a", "12", "b", "3"});
}

TEST_CASE("metaspace marks spaces, and the start as the scheme says", "[tokenizer]") {
  CHECK(pieces(metaspace("always"), "a b", false) == Texts{"▁a", "▁b"});
  CHECK(pieces(metaspace("always"), " a") == Texts{"▁a"});
  CHECK(pieces(metaspace("first"), "a b") == Texts{"▁a", "▁b"});
  CHECK(pieces(metaspace("first"), "a b", false) == Texts{"a", "▁b"});
  CHECK(pieces(metaspace("never"), "a  b") == Texts{"a", "▁", "▁b"});
  CHECK(pieces(metaspace("always", false), "a b") == Texts{"▁a▁b"});
  // As older files write it.
  CHECK(pieces({{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", true}, {"str_rep", "_"}}, "a b") ==
        Texts{"_a", "_b"});
  CHECK(pieces({{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", false}}, "a b") == Texts{"a", "_b"});
}

TEST_CASE("white space and punctuation", "[tokenizer]") {
  CHECK(pieces({{"type", "Whitespace"}}, " ab,c\u3000e\u0301!? ") == Texts{"ab", ",", "c", "e\u0301", "!?"});
  CHECK(pieces({{"type", "WhitespaceSplit"}}, " ab,c \u3000d") == Texts{"ab,c", "d"});
  CHECK(pieces({{"type", "Punctuation"}}, "a$b—c..") == Texts{"a", "$", "b", "—", "c", ".", "."});
  CHECK(pieces({{"type", "Punctuation"}, {"behavior", "Contiguous"}}, "a..b") == Texts{"a", "..", "b"});
}

TEST_CASE("a sequence cuts the pieces of the part before", "[tokenizer]") {
  const json digits{{"type", "Digits"}, {"individual_digits", true}};
  CHECK(pieces({{"type", "Sequence"}, {"pretokenizers", {digits, byte_level(false)}}}, "a 12 b") ==
        Texts{"a", "Ġ", "1", "2", "Ġb"});
  // Only the piece at the start is first.
  const json blanks{{"type", "WhitespaceSplit"}};
  CHECK(pieces({{"type", "Sequence"}, {"pretokenizers", {blanks, metaspace("first")}}}, "a b") == Texts{"▁a", "b"});
  CHECK(pieces({{"type", "Sequence"}, {"pretokenizers", json::array()}}, "a b") == Texts{"a b"});
}

}  // namespace qkv::test
