#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/tokenizer.hpp"
#include "qkv/tokenizer/written_score.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

json unigram_file(const json& vocab, const json& unk_id = 0, bool byte_fallback = false) {
  return {{"decoder", {{"type", "Fuse"}}},
          {"model", {{"type", "Unigram"}, {"unk_id", unk_id}, {"byte_fallback", byte_fallback}, {"vocab", vocab}}}};
}

json pair(const std::string& piece, double score) { return json::array({piece, score}); }

const json vocab = json::array({pair("<unk>", 0), pair("a", -1), pair("b", -2), pair("ab", -2.5), pair("ba", -5)});

using Scores = std::map<std::string, double>;

/// The best sum of scores over all ways to cut `text`.
double best_of(const Scores& scores, const std::string& text) {
  if (text.empty()) return 0;
  double best = -1e9;
  for (std::size_t length = 1; length <= text.size(); ++length)
    if (const auto found = scores.find(text.substr(0, length)); found != scores.end())
      best = std::max(best, found->second + best_of(scores, text.substr(length)));
  return best;
}

void check_refused_file(const json& file, const Texts& parts) {
  check_refused(
      ErrorCode::model, [&] { (void)tokenizer_of(file); }, parts);
}

}  // namespace

TEST_CASE("Unigram takes the pieces of the largest sum", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(unigram_file(vocab));
  CHECK(tokenizer.summary() == "Unigram, 5 tokens");
  CHECK(tokenizer.encode("ab", {}) == Ids{3});
  CHECK(tokenizer.encode("ba", {}) == Ids{2, 1});
  CHECK(tokenizer.encode("aab", {}) == Ids{1, 3});
  CHECK(tokenizer.encode("", {}).empty());
  CHECK(tokenizer.decode(Ids{3, 4}) == "abba");
}

TEST_CASE("Unigram finds what trying every way finds", "[tokenizer]") {
  Numbers numbers(41);
  const auto letter = [&] { return static_cast<char>('a' + static_cast<char>(numbers.bits() % 3)); };
  for (int round = 0; round < 60; ++round) {
    Scores scores;
    auto list = json::array({pair("<unk>", 0)});
    Texts texts{"a", "b", "c"};
    for (int i = 0; i < 15; ++i) {
      std::string text(2 + numbers.bits() % 4, ' ');
      for (auto& one : text) one = letter();
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
    for (const auto& text : texts) {
      // Sums of these are exact.
      scores[text] = -static_cast<double>(numbers.bits() % 4096) / 256;
      list.push_back(pair(text, scores[text]));
    }
    const auto tokenizer = tokenizer_of(unigram_file(list));
    for (int i = 0; i < 20; ++i) {
      std::string text(1 + numbers.bits() % 14, ' ');
      for (auto& one : text) one = letter();
      CAPTURE(text, round);
      const auto ids = tokenizer.encode(text, {});
      double sum = 0;
      for (const auto id : ids) sum += scores.at(tokenizer.piece(id));
      CHECK(tokenizer.decode(ids) == text);
      CHECK(sum == best_of(scores, text));
    }
  }
}

TEST_CASE("what Unigram does not know", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(unigram_file(vocab));
  CHECK(tokenizer.encode("axyzb", {}) == Ids{1, 0, 2});
  CHECK(tokenizer.encode("日本a", {}) == Ids{0, 1});
  CHECK(tokenizer.encode("\xFF\xE6", {}) == Ids{0});
  // The unknown token's own spelling is unknown text too.
  CHECK(tokenizer.encode("<unk>x", {}) == Ids{0});
  auto with_bytes = vocab;
  for (const auto* byte : {"<0x78>", "<0x79>"}) with_bytes.push_back(pair(byte, -9));
  const auto bytes = tokenizer_of(unigram_file(with_bytes, 0, true));
  CHECK(bytes.encode("axy", {}) == Ids{1, 5, 6});
  CHECK(bytes.encode("axyz", {}) == Ids{1, 0});  // all of a run, or none
  CHECK(bytes.encode("axazy", {}) == Ids{1, 5, 1, 0});
  const auto nothing = tokenizer_of(unigram_file(vocab, nullptr));
  CHECK(nothing.encode("ab", {}) == Ids{3});
  check_refused(ErrorCode::model, [&] { (void)nothing.encode("az", {}); }, {"sample.json", "'unk_id'", "\"z\""});
}

TEST_CASE("scores are read as the library reads them that defines the format", "[tokenizer]") {
  using tokenizing::written_score;
  CHECK(written_score("-7.7540000000000004") == -7.754);
  CHECK(-7.7540000000000004 != -7.754);  // that is, not the nearest number
  for (const auto* text : {"0", "-0.0", "-2", "-13.645", "1.5e3", "-25E-1", "1e308", "123456789012", "4.9e-5"}) {
    CAPTURE(text);
    CHECK(written_score(text) == std::strtod(text, nullptr));
  }
  CHECK(written_score("18446744073709551616") == 18446744073709551610.0);
  CHECK(written_score("0.12345678901234567890123") == 12345678901234567890.0 / 1e20);
  CHECK(written_score("1e-320") == Approx(1e-320));
  CHECK(written_score("0.0e999999999") == 0);
}

TEST_CASE("Unigram vocabularies that are none", "[tokenizer]") {
  const auto refused = [](const json& bad, const Texts& parts) { check_refused_file(unigram_file(bad), parts); };
  const auto list = [](auto... parts) { return json::array({parts...}); };
  refused("x", {"'vocab'", "an array"});
  refused(json::object(), {"'vocab'", "an array"});
  refused(list("a"), {"piece 0", "\"a\""});
  refused(list(pair("a", 0), 7), {"piece 1", "7"});
  refused(list(pair("a", 0), list("b")), {"piece 1", "an array of 1"});
  refused(list(pair("a", 0), json::array()), {"piece 1", "an array of 0"});
  refused(list(list("a", 1, 2)), {"piece 0", "2"});
  refused(list(list("a", "b")), {"piece 0", "\"b\""});
  refused(list(list(1, "b")), {"piece 0", "1"});
  refused(list(list("a", nullptr)), {"piece 0", "null"});
  refused(list(list("a", list(1))), {"piece 0"});
  refused(list(list("a", true)), {"piece 0", "true"});
  refused(list(json{{"a", 1}}), {"piece 0"});
  refused(list(pair("a", 0), pair("a", -1)), {"\"a\" twice", "ids 0 and 1"});
  refused(json::array(), {"'unk_id'", "empty"});
  check_refused_file(unigram_file(vocab, 5), {"'unk_id'", "5"});
  check_refused_file(unigram_file(vocab, -1), {"'unk_id'", "-1"});
  check_refused_file(unigram_file(vocab, "<unk>"), {"'unk_id'", "<unk>"});
  auto file = unigram_file(vocab);
  file["model"]["nbest_size"] = 3;
  check_refused_file(file, {"'nbest_size'"});
}

TEST_CASE("words that are tokens, and words made of them", "[tokenizer]") {
  json file{{"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
            {"model", {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", {{"?", 0}, {"ab", 1}, {"b", 2}}}}}};
  const auto words = tokenizer_of(file);
  CHECK(words.summary() == "WordLevel, 3 tokens");
  CHECK(words.encode("ab b aab", {}) == Ids{1, 2, 0});
  CHECK(words.decode(Ids{1, 2}) == "ab b");
  file["model"]["unk_token"] = "nothing";
  const auto strict = tokenizer_of(file);
  CHECK(strict.encode("ab", {}) == Ids{1});
  check_refused(ErrorCode::model, [&] { (void)strict.encode("x", {}); }, {"'unk_token'", "\"x\"", "\"nothing\""});

  file["model"] = {{"type", "WordPiece"},
                   {"unk_token", "?"},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 5},
                   {"vocab", {{"?", 0}, {"a", 1}, {"ab", 2}, {"##a", 3}, {"##é", 4}, {"##b", 5}}}};
  const auto pieces = tokenizer_of(file);
  CHECK(pieces.encode("abab aé b aba", {}) == Ids{2, 3, 5, 1, 4, 0, 2, 3});
  CHECK(pieces.encode("ababa ababab", {}) == Ids{2, 3, 5, 3, 0});
  CHECK(pieces.encode("a\xC3", {}) == Ids{0});
  // A token as long as the word, which it is not, must not be tried at every place and in every length.
  const std::string word(5'000, 'a');
  file["model"]["max_input_chars_per_word"] = 1'000'000;
  file["model"]["vocab"]["##" + word + "b"] = 6;
  CHECK(tokenizer_of(file).encode(word, {}).size() == word.size());
  file["model"]["max_input_chars_per_word"] = -1;
  check_refused_file(file, {"'max_input_chars_per_word'", "-1"});
}

}  // namespace qkv::test
