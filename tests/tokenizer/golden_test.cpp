#include <array>
#include <fstream>
#include <string>

#include "qkv/tokenizer/tokenizer.hpp"
#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/temporary_directory.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::array names = {"gpt2",           "llama2", "llama3",         "pythia-neox",
                              "smollm2-cosmo2", "qwen3",  "stories260K-hf", "BabyLlama-tok105-hf"};

std::vector<json> lines_of(const fs::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

fs::path model_of(const fs::path& real, const std::string& name) {
  const auto tokenizer = real / "tokenizers" / name;
  return fs::exists(tokenizer) ? tokenizer : real / name;
}

/// How many texts were compared.
std::size_t compare(const Tokenizer& tokenizer, const fs::path& golden, const std::string& name,
                    const std::string& texts, bool add_special) {
  const auto path = golden / (name + "." + texts + (add_special ? ".special.jsonl" : ".jsonl"));
  if (!fs::exists(path)) return 0;
  const auto expected = lines_of(path);
  const auto inputs = lines_of(golden / (texts + ".jsonl"));
  REQUIRE(expected.size() == inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(path.string(), i, inputs[i].dump());
    CHECK(tokenizer.encode(inputs[i].get<std::string>(), {add_special, true}) == expected[i]["ids"].get<Ids>());
  }
  return inputs.size();
}

}  // namespace

TEST_CASE("real tokenizers give the ids that the official library gives", "[tokenizer]") {
  const auto reference = reference_directory();
  if (!reference || !fs::exists(*reference / "real" / "tokenizers" / "golden")) {
    WARN("skipped: no reference directory with real tokenizers");
    return;
  }
  const auto real = *reference / "real";
  for (const std::string name : names) {
    const auto tokenizer = Tokenizer::open(model_of(real, name));
    REQUIRE(tokenizer.has_value());
    std::size_t n_compared = 0;
    for (const auto* texts : {"strings", "llamacpp_inp"})
      for (const bool add_special : {false, true})
        n_compared += compare(*tokenizer, real / "tokenizers" / "golden", name, texts, add_special);
    CAPTURE(name);
    CHECK(n_compared >= 59);
  }
}

TEST_CASE("GPT-2's two files and its one file are the same tokenizer", "[tokenizer]") {
  const auto reference = reference_directory();
  const auto directory = reference ? *reference / "real" / "tokenizers" / "gpt2" : fs::path();
  if (!reference || !fs::exists(directory / "merges.txt")) {
    WARN("skipped: no reference directory with GPT-2's tokenizer");
    return;
  }
  const auto one = Tokenizer::open(directory);
  const TemporaryDirectory copy;
  for (const auto* name : {"vocab.json", "merges.txt"}) fs::copy_file(directory / name, copy.path() / name);
  const auto two = Tokenizer::open(copy.path());
  Numbers numbers(9);
  for (int round = 0; round < 500; ++round) {
    const auto bytes = random_bytes(numbers, 300);
    const auto ids = one->encode(bytes, {});
    CHECK(two->encode(bytes, {}) == ids);
    CHECK(one->decode(ids) == bytes);
  }
}

TEST_CASE("any ids of real tokenizers stream as they decode", "[tokenizer]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference directory with real tokenizers");
    return;
  }
  Numbers numbers(21);
  for (const std::string name : names) {
    const auto tokenizer = Tokenizer::open(model_of(*reference / "real", name));
    REQUIRE(tokenizer.has_value());
    const auto n = static_cast<std::uint32_t>(tokenizer->size());
    for (int round = 0; round < 200; ++round) {
      Ids ids(numbers.bits() % 30);
      for (auto& id : ids) id = static_cast<TokenId>(numbers.bits() % (round % 2 == 0 ? n : 300 % n));
      StreamDecoder stream(*tokenizer, round % 3 == 0);
      std::string text;
      for (const auto id : ids) text += stream.push(id);
      text += stream.finish();
      CHECK(text == tokenizer->decode(ids, round % 3 == 0));
    }
  }
}

}  // namespace qkv::test
