#include "qkv/tokenizer/added_tokens.hpp"

#include <string>

#include "support/catch.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

/// Ids from 1000 on for the added tokens, each with `flags`; all of them special when `special`.
Tokenizer with_added(const Texts& contents, const Texts& flags = {}, bool special = false) {
  auto file = byte_level_file({});
  file["added_tokens"] = json::array();
  TokenId id = 1000;
  for (const auto& content : contents) {
    auto token = added_token(content, id++, special);
    for (const auto& flag : flags) token[flag] = true;
    file["added_tokens"].push_back(token);
  }
  return tokenizer_of(file);
}

Ids encoded(const Tokenizer& tokenizer, const std::string& text, bool parse_special = true) {
  return tokenizer.encode(text, {false, parse_special});
}

}  // namespace

TEST_CASE("the leftmost added token is found, and the longest there", "[tokenizer]") {
  const auto tokenizer = with_added({"<s>", "<s><t>", "s><", "  ", "   "});
  CHECK(encoded(tokenizer, "<s>") == Ids{1000});
  CHECK(encoded(tokenizer, "<s><t>") == Ids{1001});
  CHECK(encoded(tokenizer, "<s><") == Ids{1000, '<'});
  CHECK(encoded(tokenizer, "as><") == Ids{'a', 1002});
  CHECK(encoded(tokenizer, "a     b") == Ids{'a', 1004, 1003, 'b'});
}

TEST_CASE("special tokens are found only when they are wanted", "[tokenizer]") {
  auto file = byte_level_file({});
  file["added_tokens"] = {added_token("<s>x", 1000, true), added_token("<s>", 1001, false),
                          added_token("s>x", 1002, true)};
  const auto tokenizer = tokenizer_of(file);
  CHECK(encoded(tokenizer, "<s>x", true) == Ids{1000});
  CHECK(encoded(tokenizer, "<s>x", false) == Ids{1001, 'x'});
  CHECK(encoded(tokenizer, "s>x", false) == Ids{'s', '>', 'x'});
  CHECK(encoded(tokenizer, "s>x", true) == Ids{1002});
}

TEST_CASE("strips take the white space beside a token", "[tokenizer]") {
  const std::string text = "a \u3000<s>\n b";
  CHECK(encoded(with_added({"<s>"}, {"lstrip"}), text) == Ids{'a', 1000, '\n', ' ', 'b'});
  CHECK(encoded(with_added({"<s>"}, {"rstrip"}), "a <s>\n b") == Ids{'a', ' ', 1000, 'b'});
  CHECK(encoded(with_added({"<s>"}, {"lstrip", "rstrip"}), text) == Ids{'a', 1000, 'b'});
  CHECK(encoded(with_added({"<s>"}, {"lstrip", "rstrip"}), "<s> <s>") == Ids{1000, 1000});
  // What one token took another cannot take again.
  CHECK(encoded(with_added({"<s>", "  "}, {"lstrip", "rstrip"}), "<s>    b") == Ids{1000, 'b'});
}

TEST_CASE("a single word has no word beside it", "[tokenizer]") {
  const auto tokenizer = with_added({"the"}, {"single_word"});
  CHECK(encoded(tokenizer, "the") == Ids{1000});
  CHECK(encoded(tokenizer, " the.") == Ids{' ', 1000, '.'});
  CHECK(encoded(tokenizer, "then") == Ids{'t', 'h', 'e', 'n'});
  CHECK(encoded(tokenizer, "_the") == Ids{'_', 't', 'h', 'e'});
  CHECK(encoded(tokenizer, "éthe") == Ids{0xC3, 0xA9, 't', 'h', 'e'});
  CHECK(encoded(tokenizer, "the\u0301").size() == 5);
}

TEST_CASE("tokens are looked for before or after the normalizer", "[tokenizer]") {
  auto file = byte_level_file({});
  file["normalizer"] = {{"type", "Lowercase"}};
  file["added_tokens"] = {added_token("Yes", 1000), added_token("No", 1001)};
  file["added_tokens"][1]["normalized"] = true;
  const auto tokenizer = tokenizer_of(file);
  CHECK(encoded(tokenizer, "Yes") == Ids{1000});
  CHECK(encoded(tokenizer, "yes") == Ids{'y', 'e', 's'});
  CHECK(encoded(tokenizer, "NO") == Ids{1001});
  CHECK(encoded(tokenizer, "noYesA") == Ids{1001, 1000, 'a'});
}

TEST_CASE("each part between tokens is normalized by itself", "[tokenizer]") {
  const auto llama = tokenizer_of(llama_file());
  CHECK(encoded(llama, "a<s>b") == Ids{266, 1, 259, 261});
  CHECK(encoded(llama, "<s>") == Ids{1});
  CHECK(encoded(llama, "").empty());
  // A token that is normalized too is looked for with the mark in front.
  auto file = llama_file();
  for (auto& token : file["added_tokens"]) token["normalized"] = true;
  const auto normalized = tokenizer_of(file);
  CHECK(encoded(normalized, "<s>") == Ids{1});
  CHECK(encoded(normalized, "a <s>b") == Ids{266, 1, 261});
  CHECK(encoded(normalized, "a<s>").size() == 4);
}

TEST_CASE("only text at the very start is first", "[tokenizer]") {
  auto file = llama_file();
  file["normalizer"] = nullptr;
  file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}, {"split", true}};
  const auto tokenizer = tokenizer_of(file);
  CHECK(encoded(tokenizer, "a") == Ids{266});
  CHECK(encoded(tokenizer, "a<s>a") == Ids{266, 1, 260});
  CHECK(encoded(tokenizer, "<s>a") == Ids{1, 260});
}

TEST_CASE("added tokens decode to their own text", "[tokenizer]") {
  const auto tokenizer = with_added({"  ", "éé", "ĠĠ"});
  for (const auto* text : {"a  b", "éé", "ĠĠ", "xééĠĠ  éĠ"}) {
    CAPTURE(text);
    CHECK(tokenizer.decode(encoded(tokenizer, text)) == text);
  }
}

}  // namespace qkv::test
