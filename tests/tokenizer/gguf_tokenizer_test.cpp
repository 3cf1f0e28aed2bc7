// Tokenizers in the metadata of GGUF files: the ids of the publishers' own files, and refused where damaged.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "qkv/tokenizer/tokenizer.hpp"
#include "support/catch.hpp"
#include "support/gguf_file.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::optional<Tokenizer> opened(const TinyGguf& gguf) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "x.gguf", gguf.bytes());
  return Tokenizer::open(directory.path() / "x.gguf");
}

void refused(TinyGguf gguf, const std::function<void(TinyGguf&)>& damage, std::vector<std::string> parts) {
  damage(gguf);
  parts.emplace_back("x.gguf: ");
  check_refused(
      ErrorCode::model, [&] { (void)opened(gguf); }, parts);
}

std::vector<json> lines_of(const fs::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

/// What a converter to GGUF keeps of a tokenizer.json.
TinyGguf converted(const fs::path& path, const std::string& pre) {
  std::ifstream file(path);
  const auto tokenizer = json::parse(file);
  std::map<std::int64_t, std::pair<std::string, std::int32_t>> tokens;  // with their types
  for (const auto& [piece, id] : tokenizer["model"]["vocab"].items()) tokens[id] = {piece, 1};
  for (const auto& token : tokenizer["added_tokens"])
    tokens[token["id"]] = {token["content"], token["special"] == true ? 3 : 4};
  std::vector<std::string> pieces;
  std::vector<std::int32_t> types;
  for (const auto& [id, token] : tokens) {
    for (; static_cast<std::int64_t>(pieces.size()) < id; types.push_back(5))
      pieces.push_back("[PAD" + std::to_string(pieces.size()) + "]");
    pieces.push_back(token.first);
    types.push_back(token.second);
  }
  std::vector<std::string> merges;
  for (const auto& merge : tokenizer["model"]["merges"])
    merges.push_back(merge.is_string() ? merge.get<std::string>()
                                       : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  TinyGguf gguf;
  gguf.text("tokenizer.ggml.model", "gpt2");
  gguf.text("tokenizer.ggml.pre", pre);
  gguf.texts("tokenizer.ggml.tokens", pieces);
  gguf.integers("tokenizer.ggml.token_type", types);
  gguf.texts("tokenizer.ggml.merges", merges);
  const auto begin = std::find(pieces.begin(), pieces.end(), "<|begin_of_text|>");
  if (begin != pieces.end())
    gguf.number("tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(begin - pieces.begin()));
  return gguf;
}

/// Letters, two merges, a control token and a token of the user's.
TinyGguf small_bpe() {
  auto pieces = byte_symbols();
  pieces.insert(pieces.end(), {"he", "\u0120he", "<|end|>", "<user>"});
  std::vector<std::int32_t> types(pieces.size(), 1);
  types[258] = 3;
  types[259] = 4;
  TinyGguf gguf;
  gguf.text("tokenizer.ggml.model", "gpt2");
  gguf.text("tokenizer.ggml.pre", "gpt-2");
  gguf.texts("tokenizer.ggml.tokens", pieces);
  gguf.integers("tokenizer.ggml.token_type", types);
  gguf.texts("tokenizer.ggml.merges", {"h e", "\u0120 he"});
  gguf.number("tokenizer.ggml.bos_token_id", 258U);
  gguf.number("tokenizer.ggml.eos_token_id", 258U);
  return gguf;
}

TinyGguf small_pieces() {
  TinyGguf gguf;
  gguf.text("tokenizer.ggml.model", "llama");
  gguf.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "\u2581", "h", "e", "he", "\u2581he"});
  gguf.floats("tokenizer.ggml.scores", {0, 0, 0, -9, -9, -9, -1, -2});
  gguf.integers("tokenizer.ggml.token_type", {2, 3, 3, 1, 1, 1, 1, 1});
  gguf.number("tokenizer.ggml.bos_token_id", 1U);
  gguf.number("tokenizer.ggml.eos_token_id", 2U);
  gguf.number("tokenizer.ggml.unknown_token_id", 0U);
  return gguf;
}

std::function<void(TinyGguf&)> without(const std::string& key) {
  return [=](TinyGguf& gguf) { gguf.remove(key); };
}

}  // namespace

TEST_CASE("byte-level pieces with merges come from the metadata", "[tokenizer]") {
  const auto tokenizer = opened(small_bpe());
  REQUIRE(tokenizer.has_value());
  CHECK(tokenizer->encode("he he", {}) == Ids{256, 257});
  CHECK(tokenizer->encode("he<|end|>", {true, true}) == Ids{256, 258});
  CHECK(tokenizer->encode("<user>he", {}) == Ids{259, 256});
  CHECK(tokenizer->decode(Ids{256, 257, 258}) == "he he");
  CHECK(tokenizer->is_special(258));
  CHECK_FALSE(tokenizer->is_special(259));
}

TEST_CASE("begin and end tokens are added as the metadata says", "[tokenizer]") {
  for (const bool bos : {false, true})
    for (const bool eos : {false, true}) {
      auto gguf = small_bpe();
      gguf.flag("tokenizer.ggml.add_bos_token", bos);
      gguf.flag("tokenizer.ggml.add_eos_token", eos);
      Ids expected{256};
      if (bos) expected.insert(expected.begin(), 258);
      if (eos) expected.push_back(258);
      CHECK(opened(gguf)->encode("he", {}) == expected);
      auto pieces = small_pieces();
      pieces.flag("tokenizer.ggml.add_bos_token", bos);
      pieces.flag("tokenizer.ggml.add_eos_token", eos);
      Ids ids{7};
      if (bos) ids.insert(ids.begin(), 1);
      if (eos) ids.push_back(2);
      CHECK(opened(pieces)->encode("he", {}) == ids);
    }
}

TEST_CASE("pieces with scores come from the metadata", "[tokenizer]") {
  CHECK(opened(small_pieces())->encode("he he", {}) == Ids{1, 7, 7});
  auto gguf = small_pieces();
  gguf.flag("tokenizer.ggml.add_space_prefix", false);
  CHECK(opened(gguf)->encode("he he", {}) == Ids{1, 6, 7});
  CHECK(opened(gguf)->decode(Ids{1, 6, 7}) == "he he");
}

TEST_CASE("a GGUF file without vocabulary has no tokenizer", "[tokenizer]") {
  TinyGguf gguf;
  CHECK_FALSE(opened(gguf).has_value());
  gguf.text("tokenizer.ggml.model", "no_vocab");
  CHECK_FALSE(opened(gguf).has_value());
}

TEST_CASE("metadata of tokenizers that is damaged is refused by key", "[tokenizer]") {
  for (const auto* key : {"tokenizer.ggml.tokens", "tokenizer.ggml.merges", "tokenizer.ggml.pre"})
    refused(small_bpe(), without(key), {std::string("key '") + key + "'", "found nothing"});
  for (const auto* key : {"tokenizer.ggml.tokens", "tokenizer.ggml.scores"})
    refused(small_pieces(), without(key), {std::string("key '") + key + "'", "found nothing"});
  const auto replace = [](const std::string& key, const std::function<void(TinyGguf&)>& add) {
    return [=](TinyGguf& gguf) {
      gguf.remove(key);
      add(gguf);
    };
  };
  const std::string pre = "tokenizer.ggml.pre";
  const std::string model = "tokenizer.ggml.model";
  const std::string merges = "tokenizer.ggml.merges";
  const std::string types = "tokenizer.ggml.token_type";
  for (const auto* name : {"default", "klingon", ""})
    refused(small_bpe(), replace(pre, [&](TinyGguf& g) { g.text(pre, name); }),
            {"key '" + pre + "'", "gpt-2", std::string("found \"") + name + "\"", "--tokenizer"});
  refused(small_bpe(), replace(model, [&](TinyGguf& g) { g.text(model, "bert"); }),
          {"key '" + model + "'", "one of llama, gpt2", "bert"});
  refused(small_bpe(),
          replace(merges,
                  [&](TinyGguf& g) {
                    g.texts(merges, {"h e", "he"});
                  }),
          {"key '" + merges + "'", "merge 1", "\"he\""});
  refused(small_bpe(),
          replace(types,
                  [&](TinyGguf& g) {
                    g.integers(types, {1, 1});
                  }),
          {"key '" + types + "'", "expected 260 values", "found 2"});
  refused(small_bpe(), replace(types, [&](TinyGguf& g) { g.integers(types, std::vector<std::int32_t>(260, 7)); }),
          {"key '" + types + "'", "types from 1 to 6", "found 7"});
  refused(small_pieces(), replace("tokenizer.ggml.scores", [](TinyGguf& g) { g.floats("tokenizer.ggml.scores", {1}); }),
          {"key 'tokenizer.ggml.scores'", "expected 8 values", "found 1"});
  refused(small_pieces(), replace("tokenizer.ggml.tokens", [](TinyGguf& g) { g.floats("tokenizer.ggml.tokens", {1}); }),
          {"key 'tokenizer.ggml.tokens'", "an array of strings"});
  refused(small_pieces(), [](TinyGguf& g) { g.flag("tokenizer.ggml.remove_extra_whitespaces", true); },
          {"key 'tokenizer.ggml.remove_extra_whitespaces'", "expected false"});
  for (const auto id : {260U, 0xFFFFFFFFU})
    refused(small_bpe(),
            [&](TinyGguf& g) {
              g.remove("tokenizer.ggml.bos_token_id");
              g.number("tokenizer.ggml.bos_token_id", id);
              g.flag("tokenizer.ggml.add_bos_token", true);
            },
            {"key 'tokenizer.ggml.bos_token_id'"});
}

TEST_CASE("real tokenizers kept in GGUF give the ids of their own files", "[tokenizer][reference]") {
  const auto reference = reference_directory();
  if (!reference || !fs::exists(*reference / "real" / "tokenizers" / "golden")) {
    WARN("skipped: no reference directory with real tokenizers");
    return;
  }
  const auto tokenizers = *reference / "real" / "tokenizers";
  for (const auto& [name, pre] : {std::pair<std::string, std::string>{"gpt2", "gpt-2"},
                                  {"llama3", "llama-bpe"},
                                  {"pythia-neox", "olmo"},
                                  {"qwen3", "qwen2"},
                                  {"smollm2-cosmo2", "smollm"}}) {
    const auto tokenizer = opened(converted(tokenizers / name / "tokenizer.json", pre));
    REQUIRE(tokenizer.has_value());
    for (const std::string texts : {"strings", "llamacpp_inp"})
      for (const bool add_special : {false, true}) {
        const auto inputs = lines_of(tokenizers / "golden" / (texts + ".jsonl"));
        const auto expected =
            lines_of(tokenizers / "golden" / (name + "." + texts + (add_special ? ".special.jsonl" : ".jsonl")));
        REQUIRE(expected.size() == inputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          CAPTURE(name, texts, i, inputs[i].dump());
          auto ids = expected[i]["ids"].get<Ids>();
          // That file has no rule for a begin token; in GGUF its kind adds one unless a key says no, as llama.cpp does.
          if (add_special && pre == "llama-bpe") ids.insert(ids.begin(), 128000);
          CHECK(tokenizer->encode(inputs[i].get<std::string>(), {add_special, true}) == ids);
        }
      }
  }
}

TEST_CASE("the stories model's pieces in GGUF give the ids of its own file", "[tokenizer][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference directory");
    return;
  }
  const auto real = *reference / "real";
  const auto tokenizer = Tokenizer::open(real / "gguf" / "stories260K-f32.gguf");
  REQUIRE(tokenizer.has_value());
  for (const std::string texts : {"strings", "llamacpp_inp"}) {
    const auto inputs = lines_of(real / "tokenizers" / "golden" / (texts + ".jsonl"));
    const auto expected = lines_of(real / "tokenizers" / "golden" / ("stories260K-hf." + texts + ".jsonl"));
    REQUIRE(expected.size() == inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CAPTURE(texts, i, inputs[i].dump());
      CHECK(tokenizer->encode(inputs[i].get<std::string>(), {false, true}) == expected[i]["ids"].get<Ids>());
    }
  }
}

}  // namespace qkv::test
