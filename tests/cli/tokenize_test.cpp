// qkv tokenize and qkv info, as a user runs them.

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/run_program.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

const std::string stories = std::string(QKV_TEST_DATA) + "/real/stories260K-hf";

std::string out_of(const std::vector<std::string>& arguments, const std::string& input = {}) {
  const auto run = run_program(arguments, {.input = input, .environment = {}});
  INFO(run.err);
  REQUIRE(run.status == 0);
  return run.out;
}

std::string random_bytes(std::size_t count) {
  std::mt19937 engine(7);
  std::string bytes(count, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(engine() & 0xFFU);
  return bytes;
}

}  // namespace

TEST_CASE("ids and pieces of a text", "[cli]") {
  CHECK(out_of({"tokenize", "-m", stories, "-p", "Hello world!", "--format", "ids", "--bos", "no"}) ==
        "346,306,414,263,304,341,443\n");
  CHECK(out_of({"tokenize", "-m", stories, "-p", "Hello world!", "--format", "ids"}) ==
        "1,346,306,414,263,304,341,443\n");
  const auto object = json::parse(out_of({"tokenize", "-m", stories, "-p", "Hello", "--format", "json"}));
  CHECK(object["ids"] == json::array({1, 346, 306, 414}));
  CHECK(object["pieces"] == json::array({"<s>", "▁He", "ll", "o"}));
  CHECK(out_of({"tokenize", "-m", stories, "-p", "a\nb"}).find("\\n") != std::string::npos);
}

TEST_CASE("special text is literal unless asked for", "[cli]") {
  const std::vector<std::string> arguments{"tokenize", "-m", stories, "-p", "</s>", "--bos", "no", "--format", "ids"};
  auto special = arguments;
  special.emplace_back("--special");
  CHECK(out_of(arguments) != out_of(special));
  CHECK(out_of(special) == "2\n");
}

TEST_CASE("many texts in one run, one JSON a line", "[cli]") {
  std::istringstream lines(
      out_of({"tokenize", "-m", stories, "--lines", "--bos", "no"}, "\"Hello\"\n\"\"\n\"a\\nb\"\n"));
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(json::parse(line)["ids"] == json::array({346, 306, 414}));
  REQUIRE(std::getline(lines, line));
  CHECK(json::parse(line)["ids"].empty());
  REQUIRE(std::getline(lines, line));
  CHECK(json::parse(line)["ids"] == json::array({261, 13, 430}));
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("any bytes come back from the embedded tokenizer", "[cli]") {
  const auto bytes = random_bytes(3000);
  const auto ids = out_of({"tokenize", "--format", "ids"}, bytes);
  CHECK(out_of({"tokenize", "--decode"}, ids) == bytes);
}

TEST_CASE("ids come from arguments as well", "[cli]") {
  CHECK(out_of({"tokenize", "-m", stories, "--decode", "346", "306", "414"}) == "Hello");
  CHECK(out_of({"tokenize", "-m", stories, "--decode", "1,346,306,414"}) == "Hello");
  CHECK(out_of({"tokenize", "-m", stories, "--decode", "--special", "--ids", "1,346"}).rfind("<s>", 0) == 0);
  CHECK(run_program({"tokenize", "-m", stories, "--decode", "99999"}).status == 4);
}

TEST_CASE("a directory with nothing but a tokenizer is enough", "[cli][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  CHECK(out_of({"tokenize", "-m", (*reference / "real" / "tokenizers" / "gpt2").string(), "-p", "Hello world!",
                "--format", "ids"}) == "15496,995,0\n");
}

TEST_CASE("info names every choice of the block", "[cli]") {
  const auto text = out_of({"info", "-m", stories, "--tensors"});
  for (const auto* part :
       {"llama", "rms, epsilon 1e-05", "8 heads, 4 key/value heads, head_dim 8", "0.353553391", "gated, silu",
        "rotary, theta 10000", "tied to the token embedding", "model.layers.4.mlp.up_proj.weight"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  const auto object = json::parse(out_of({"info", "-m", stories, "--json", "--tensors"}));
  CHECK(object["parameters"] == 260032);
  CHECK(object["tensors"].size() == 47);
}

}  // namespace qkv::test
