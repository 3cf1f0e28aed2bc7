#include <functional>
#include <string>

#include "qkv/tokenizer/tokenizer.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

/// Writes `text` as a tokenizer.json and checks that it is refused, naming the file and `parts`.
void check_text_refused(const std::string& text, Texts parts) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "tokenizer.json", text);
  parts.push_back((directory.path() / "tokenizer.json").string());
  check_refused(
      ErrorCode::model, [&] { (void)Tokenizer::open(directory.path()); }, parts);
}

/// The same for a good file that `damage` has made bad.
void check_file_refused(const std::function<void(json&)>& damage, const Texts& parts, json file = byte_level_file()) {
  damage(file);
  check_text_refused(file.dump(), parts);
}

void check_llama_refused(const std::function<void(json&)>& damage, const Texts& parts) {
  check_file_refused(damage, parts, llama_file());
}

std::string with_vocab(const std::string& vocab) {
  return R"({"model": {"type": "BPE", "merges": [], "vocab": )" + vocab + "}}";
}

}  // namespace

TEST_CASE("files that are no JSON, or another", "[tokenizer]") {
  check_text_refused("", {"syntax error"});
  check_text_refused("{\"model\": ", {"syntax error"});
  check_text_refused("{} {}", {"syntax error"});
  check_text_refused("[]", {"JSON object"});
  check_text_refused("null", {"JSON object"});
  check_text_refused("{\"a\": \"\xFF\"}", {"syntax error"});
  check_text_refused("{\"model\": 1, \"model\": 2}", {"\"model\"", "twice"});
  check_text_refused(std::string(100000, '['), {"nesting"});
  std::string nested = "{\"normalizer\": ";
  for (int i = 0; i < 2000; ++i) nested += R"({"type": "Sequence", "normalizers": [)";
  check_text_refused(nested, {"nesting"});
}

TEST_CASE("models that are missing or not understood", "[tokenizer]") {
  check_file_refused([](json& file) { file.erase("model"); }, {"'model'", "nothing"});
  check_file_refused([](json& file) { file["model"] = 3; }, {"'model'", "an object"});
  check_file_refused([](json& file) { file["model"] = json::object(); }, {"'type'", "BPE"});
  check_file_refused([](json& file) { file["model"] = json::array({1}); }, {"'model'", "an object"});
  check_file_refused([](json& file) { file["model"]["type"] = "Nonsense"; },
                     {"model", "'type'", "BPE, Unigram, WordLevel, WordPiece", "Nonsense"});
  check_file_refused([](json& file) { file["model"]["type"] = "Unigram"; }, {"'vocab'", "an array"});
  for (const auto* type : {"WordLevel", "WordPiece"})
    check_file_refused([&](json& file) { file["model"]["type"] = type; }, {"'unk_token'", "nothing"});
  check_file_refused([](json& file) { file["model"]["type"] = 7; }, {"'type'", "a string"});
  check_file_refused([](json& file) { file["model"]["dropout"] = 0.1; }, {"'dropout'", "0.1"});
  check_file_refused([](json& file) { file["model"]["surprise"] = 1; }, {"model", "'surprise'"});
  check_file_refused([](json& file) { file["model"]["byte_fallback"] = "yes"; }, {"'byte_fallback'", "yes"});
  check_text_refused(R"({"model": {"type": "BPE", "vocab": {}, "merges": []}})", {"'model'", "at least one token"});
}

TEST_CASE("vocabularies that are none", "[tokenizer]") {
  check_file_refused([](json& file) { file["model"].erase("vocab"); }, {"'vocab'", "nothing"});
  check_text_refused(with_vocab("[1]"), {"'vocab'", "piece 0", "found 1"});
  check_text_refused(with_vocab("[]"), {"'vocab'", "an object"});
  check_text_refused(with_vocab("\"x\""), {"'vocab'", "an object"});
  check_text_refused(with_vocab(R"({"a": -1})"), {"'vocab'", "\"a\"", "-1"});
  check_text_refused(with_vocab(R"({"a": 2147483647})"), {"'vocab'", "\"a\"", "2147483647"});
  check_text_refused(with_vocab(R"({"a": 99999999999999999999})"), {"'vocab'", "\"a\""});
  check_text_refused(with_vocab(R"({"a": 1.5})"), {"'vocab'", "\"a\"", "1.5"});
  check_text_refused(with_vocab(R"({"a\nb": "1"})"), {"'vocab'", "\"a\\nb\""});
  check_text_refused(with_vocab(R"({"a": null})"), {"'vocab'", "\"a\"", "null"});
  check_text_refused(with_vocab(R"({"a": true})"), {"'vocab'", "\"a\"", "true"});
  check_text_refused(with_vocab(R"({"a": {"b": 1}})"), {"'vocab'", "\"a\""});
  check_text_refused(with_vocab(R"({"a": [1]})"), {"'vocab'", "\"a\""});
  check_text_refused(with_vocab(R"({"a": 1, "a": 2})"), {"'vocab'", "\"a\"", "twice"});
  check_text_refused(with_vocab(R"({"a": 1, "b": 1})"), {"'vocab'", "id 1", "\"a\"", "\"b\""});
  check_text_refused(with_vocab(R"({"a": 1}, "vocab": {"a": 1})"), {"\"vocab\"", "twice"});
}

TEST_CASE("merges that are none", "[tokenizer]") {
  const auto refused = [](const json& merges, const Texts& parts) {
    check_file_refused([&](json& file) { file["model"]["merges"] = merges; }, parts);
  };
  check_file_refused([](json& file) { file["model"].erase("merges"); }, {"'merges'", "nothing"});
  const auto list = [](auto... parts) { return json::array({parts...}); };
  refused("h e", {"'merges'", "an array"});
  refused(list("h e", "he"), {"'merges'", "merge 1", "\"he\""});
  refused(list("h e l"), {"'merges'", "merge 0"});
  refused(list("h e", 5), {"'merges'", "merge 1", "5"});
  refused(list("h e", json()), {"'merges'", "merge 1", "null"});
  refused(list(list("h")), {"'merges'", "merge 0", "array of 1"});
  refused(list(list("h", "e"), list("h", "e", "l")), {"'merges'", "merge 1", "more than two"});
  refused(list(list("h", 5)), {"'merges'", "merge 0", "5"});
  refused(list(list("h", list("e"))), {"'merges'", "merge 0"});
  refused(list(json{{"h", 5}}), {"'merges'", "merge 0"});
  refused(list("h e", "日 e"), {"'merges'", "merge 1", "日"});
  refused(list("e 日"), {"'merges'", "merge 0", "日"});
  refused(list("e e"), {"'merges'", "merge 0", "\"ee\""});
}

TEST_CASE("added tokens that contradict", "[tokenizer]") {
  const auto refused = [](const json& token, const Texts& parts) {
    check_file_refused([&](json& file) { file["added_tokens"].push_back(token); }, parts);
  };
  refused(added_token("x1", -1), {"added_tokens[1]", "'id'", "-1"});
  refused(added_token("<|two|>", 263), {"added_tokens", "263", "<|end|>", "<|two|>"});
  refused(added_token("<|end|>", 500), {"added_tokens", "<|end|>", "500"});
  refused(added_token("hello", 500), {"added_tokens", "\"hello\"", "259"});
  refused(added_token("fresh", 259), {"added_tokens", "\"fresh\"", "\"hello\""});
  refused({{"content", "x"}}, {"added_tokens[1]", "'id'", "nothing"});
  refused({{"id", 500}}, {"added_tokens[1]", "'content'", "nothing"});
  refused({{"id", 4294967296}, {"content", "x"}}, {"added_tokens[1]", "'id'", "4294967296"});
  refused({{"id", "500"}, {"content", "x"}}, {"added_tokens[1]", "'id'", "500"});
  refused(3, {"added_tokens[1]", "an object"});
  check_file_refused([](json& file) { file["added_tokens"] = json::object(); }, {"'added_tokens'", "an array"});
}

TEST_CASE("components that are not understood", "[tokenizer]") {
  for (const auto* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
    check_file_refused(
        [&](json& file) {
          file[key] = {{"type", "Nonsense"}};
        },
        {key, "'type'", "Nonsense", "Sequence"});
    check_file_refused([&](json& file) { file[key] = json::object(); }, {key, "'type'", "nothing"});
    check_file_refused([&](json& file) { file[key] = "NFC"; }, {key, "an object"});
    check_file_refused([&](json& file) { file[key] = {{"type", "Sequence"}}; }, {key, "an array"});
  }
  check_file_refused(
      [](json& file) {
        file["normalizer"] = {{"type", "NFC"}, {"surprise", 1}};
      },
      {"normalizer", "'surprise'"});
  check_file_refused([](json& file) { file["pre_tokenizer"]["use_regex"] = 1; }, {"pre_tokenizer", "'use_regex'"});
  check_llama_refused([](json& file) { file["normalizer"]["normalizers"][1]["type"] = "Odd"; },
                      {"normalizer", "normalizers[1]", "Odd"});
  check_llama_refused(
      [](json& file) {
        file["normalizer"]["normalizers"][1]["pattern"] = {{"Glob", "*"}};
      },
      {"normalizers[1]", "pattern", "'Regex'"});
  check_llama_refused([](json& file) { file["decoder"]["decoders"][3]["content"] = "ab"; },
                      {"decoders[3]", "'content'", "one character"});
  check_llama_refused([](json& file) { file["decoder"]["decoders"][3]["start"] = -1; },
                      {"decoders[3]", "'start'", "-1"});
  check_file_refused(
      [](json& file) {
        file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", ""}};
      },
      {"pre_tokenizer", "'replacement'"});
  check_file_refused(
      [](json& file) {
        file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "odd"}};
      },
      {"pre_tokenizer", "'prepend_scheme'", "odd"});
}

TEST_CASE("expressions that do not compile", "[tokenizer]") {
  const auto split = [](const std::string& expression, const std::string& behavior) {
    return json{{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", behavior}, {"invert", false}};
  };
  check_file_refused([&](json& file) { file["pre_tokenizer"] = split("(a", "Isolated"); },
                     {"pre_tokenizer", "pattern", "'Regex'", "(a"});
  check_file_refused([&](json& file) { file["pre_tokenizer"] = split("a", "Odd"); },
                     {"pre_tokenizer", "'behavior'", "Odd"});
}

TEST_CASE("templates that name what is not there", "[tokenizer]") {
  check_llama_refused([](json& file) { file["post_processor"]["single"][0]["SpecialToken"]["id"] = "<cls>"; },
                      {"post_processor", "'id'", "<cls>", "special_tokens"});
  check_llama_refused([](json& file) { file["post_processor"]["special_tokens"]["<s>"]["ids"] = {9999}; },
                      {"post_processor", "'ids'", "9999"});
  check_llama_refused([](json& file) { file["post_processor"]["special_tokens"]["<s>"]["ids"] = {-1}; },
                      {"post_processor", "'ids'", "-1"});
  check_llama_refused([](json& file) { file["post_processor"]["special_tokens"]["<s>"]["ids"] = json::array(); },
                      {"post_processor", "'ids'"});
  check_llama_refused([](json& file) { file["post_processor"]["single"].erase(1); }, {"post_processor", "'single'"});
  check_llama_refused([](json& file) { file["post_processor"]["single"][1]["Sequence"]["id"] = "B"; },
                      {"post_processor", "'id'", "B"});
  check_llama_refused([](json& file) { file["post_processor"].erase("special_tokens"); },
                      {"post_processor", "'special_tokens'"});
}

TEST_CASE("the two files of GPT-2, damaged", "[tokenizer]") {
  const TemporaryDirectory directory;
  const auto good_vocab = byte_level_file()["model"]["vocab"].dump();
  const auto refused = [&](const std::string& vocab, const std::string& merges, const Texts& parts) {
    write_file(directory.path() / "vocab.json", vocab);
    write_file(directory.path() / "merges.txt", merges);
    check_refused(
        ErrorCode::model, [&] { (void)Tokenizer::open(directory.path()); }, parts);
  };
  refused(good_vocab, "h e\nhe\n", {"merges.txt", "line 2", "\"he\""});
  refused(good_vocab, "h e\n\xFF e\n", {"merges.txt", "merge 1"});
  refused("{\"a\": -5}", "", {"vocab.json", "\"a\"", "-5"});
  refused("[]", "", {"vocab.json", "an object"});
  refused(R"({"a": {"b": 1}, "c": 2})", "", {"vocab.json", "\"a\"", "found {}"});
  refused("{\"a\": 1", "", {"vocab.json", "syntax error"});
}

}  // namespace qkv::test
