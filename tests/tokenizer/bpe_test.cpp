#include "qkv/tokenizer/bpe.hpp"

#include <chrono>
#include <string>

#include "qkv/tokenizer/merge_table.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;
using tokenizing::Merge;
using tokenizing::MergeTable;

const EncodeOptions plain{false, true};

/// The rule itself: again and again the lowest rank anywhere, the leftmost of equals.
void merge_naively(const MergeTable& table, Ids& ids) {
  while (true) {
    Merge best;
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i)
      if (const auto merge = table.find(ids[i], ids[i + 1]); merge < best) {
        best = merge;
        where = i;
      }
    if (!best.exists()) return;
    ids[where] = best.made();
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

Ids encoded(const json& file, const std::string& text) { return tokenizer_of(file).encode(text, plain); }

}  // namespace

TEST_CASE("merges apply in the order of their rank, not of their length", "[tokenizer]") {
  // "bc" comes before "ab", though "ab" stands first and "abc" would be longest.
  const auto file = llama_file({"b c", "a b", "ab c"});
  auto bare = file;
  bare["normalizer"] = nullptr;
  CHECK(encoded(bare, "abc") == Ids{260, 266});
  CHECK(encoded(bare, "ab") == Ids{267});
  CHECK(encoded(bare, "abab") == Ids{267, 267});
}

TEST_CASE("of equal merges the leftmost applies first", "[tokenizer]") {
  auto file = llama_file({"a a"});
  file["normalizer"] = nullptr;
  CHECK(encoded(file, "aaa") == Ids{266, 260});
}

TEST_CASE("the long way and the short way give what the rule gives", "[tokenizer]") {
  Numbers numbers(11);
  for (int round = 0; round < 300; ++round) {
    // Tokens 0 to 3 at first; merges of random pairs, each making a token of its own.
    MergeTable table(60);
    const auto n_merges = 1 + numbers.bits() % 60;
    for (std::uint32_t rank = 0; rank < n_merges; ++rank) {
      const auto made = static_cast<TokenId>(4 + rank);
      const auto left = static_cast<TokenId>(numbers.bits() % (4 + rank));
      const auto right = static_cast<TokenId>(numbers.bits() % (4 + rank));
      // Ranks need not follow the order in which tokens are made.
      table.add(left, right, Merge(rank * 7 % 61, made));
    }
    Ids ids(numbers.bits() % 200);
    for (auto& id : ids) id = static_cast<TokenId>(numbers.bits() % (round % 2 == 0 ? 4 : 2));
    auto expected = ids;
    merge_naively(table, expected);
    tokenizing::apply_merges(table, ids);
    CHECK(ids == expected);
  }
}

TEST_CASE("text without pre-tokenizer is cut only where no merge reaches across", "[tokenizer]") {
  Numbers numbers(5);
  auto file = llama_file({"a b", "▁ ab", "b ▁", "ab c", "▁ ▁", "e ▁ab", "c d", "cd ab"});
  auto whole_file = file;
  whole_file["model"]["ignore_merges"] = true;  // cuts nothing
  const auto cutting = tokenizer_of(file);
  const auto whole = tokenizer_of(whole_file);
  for (int round = 0; round < 200; ++round) {
    std::string text = "b";
    const auto length = 70 + numbers.bits() % 400;
    while (text.size() < length) {
      constexpr std::string_view letters = "  aabbccdef\xFF\xC3\xA9z";
      text += letters[(numbers.bits() >> 4U) % letters.size()];
    }
    CHECK(cutting.encode(text, plain) == whole.encode(text, plain));
  }
}

TEST_CASE("a piece that comes again gets the same ids", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(byte_level_file());
  std::string text;
  Ids expected;
  const auto once = tokenizer.encode("hello worold", plain);
  REQUIRE(once == Ids{259, 262, 'o', 'l', 'd'});
  for (int i = 0; i < 1000; ++i) {
    text += "hello worold\n" + std::to_string(i) + "\n";
    expected.insert(expected.end(), once.begin(), once.end());
    expected.push_back('\n');
    for (const char digit : std::to_string(i)) expected.push_back(digit);
    expected.push_back('\n');
  }
  CHECK(tokenizer.encode(text, plain) == expected);
}

TEST_CASE("characters outside the vocabulary become bytes", "[tokenizer]") {
  auto file = llama_file();
  file["normalizer"] = nullptr;
  CHECK(encoded(file, "é") == Ids{3 + 0xC3, 3 + 0xA9});
  CHECK(encoded(file, "a\xFFz") == Ids{260, 3 + 0xFF, 3 + 'z'});
  CHECK(encoded(file, std::string("\0", 1)) == Ids{3});
  // Bytes of one character stay together when it comes again, in text long enough to be cut.
  const std::string many(200, 'f');
  const auto ids = encoded(file, many + "é" + many + "é");
  CHECK(ids.size() == 404);
  CHECK(Ids(ids.end() - 2, ids.end()) == Ids{3 + 0xC3, 3 + 0xA9});
}

TEST_CASE("or the unknown token, one for each or one for all", "[tokenizer]") {
  auto file = llama_file();
  file["normalizer"] = nullptr;
  file["model"]["byte_fallback"] = false;
  CHECK(encoded(file, "éza\xFF\xFF") == Ids{0, 260, 0});
  file["model"]["fuse_unk"] = false;
  CHECK(encoded(file, "éza\xFF\xFF") == Ids{0, 0, 260, 0, 0});
  file["model"].erase("unk_token");
  CHECK(encoded(file, "éza\xFF") == Ids{260});
  file["model"]["unk_token"] = "<none>";
  const auto tokenizer = tokenizer_of(file);
  CHECK(tokenizer.encode("ab", plain) == Ids{267});
  check_refused(ErrorCode::model, [&] { (void)tokenizer.encode("z", plain); }, {"unk_token", "<none>", "sample.json"});
}

TEST_CASE("with ignore_merges a piece that is a token is that token", "[tokenizer]") {
  // No merge makes "hel": only as a whole piece can it be had.
  auto file = byte_level_file();
  file["model"]["vocab"]["hel"] = 300;
  CHECK(encoded(file, "hel") == Ids{256, 'l'});
  file["model"]["ignore_merges"] = true;
  CHECK(encoded(file, "hel") == Ids{300});
  CHECK(encoded(file, "hell") == Ids{258});
  CHECK(encoded(file, "help") == Ids{256, 'l', 'p'});
}

TEST_CASE("prefixes of inner characters and suffixes of last ones", "[tokenizer]") {
  const json model{{"type", "BPE"},
                   {"vocab", {{"a", 0}, {"##b", 1}, {"ab", 2}, {"##c</w>", 3}, {"a</w>", 4}, {"abc</w>", 5}}},
                   {"merges", {"a ##b", "ab ##c</w>"}},
                   {"continuing_subword_prefix", "##"},
                   {"end_of_word_suffix", "</w>"}};
  const json file{{"model", model}, {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}};
  CHECK(encoded(file, "abc a") == Ids{5, 4});
}

TEST_CASE("merges may be pairs, and the type may be left out", "[tokenizer]") {
  auto file = byte_level_file({"h e"});
  file["model"]["merges"] = json::array({json::array({"h", "e"})});
  file["model"].erase("type");
  CHECK(encoded(file, "he") == Ids{256});
}

TEST_CASE("a megabyte in one piece takes no noticeable time", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(llama_file({"a a", "aa aa", "aaaa aaaa"}));
  const std::string text(1 << 20, 'a');
  const auto begin = std::chrono::steady_clock::now();
  CHECK(tokenizer.encode(text, plain).size() == 1 + (1 << 17));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));  // a square of it would take an hour
}

}  // namespace qkv::test
