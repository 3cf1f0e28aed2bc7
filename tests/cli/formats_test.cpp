// Models in one file, as a user opens them.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gguf_file.hpp"
#include "support/reference.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string out_of(const std::vector<std::string>& arguments) {
  const auto run = run_program(arguments);
  INFO(run.err);
  REQUIRE(run.status == 0);
  return run.out;
}

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The author's program ends what it prints with a line end of its own.
std::string told(const fs::path& path) {
  auto text = slurp(path);
  REQUIRE(!text.empty());
  text.pop_back();
  return text;
}

/// A tiny model with eleven tokens.
TinyGguf with_tokenizer() {
  auto gguf = tiny_llama_gguf();
  gguf.text("tokenizer.ggml.model", "llama");
  gguf.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "\u2581", "h", "e", "he", "\u2581he", "y", "a", "b"});
  gguf.floats("tokenizer.ggml.scores", {0, 0, 0, -9, -9, -9, -1, -2, -9, -9, -9});
  gguf.integers("tokenizer.ggml.token_type", {2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1});
  gguf.number("tokenizer.ggml.bos_token_id", 1U);
  gguf.number("tokenizer.ggml.eos_token_id", 2U);
  return gguf;
}

}  // namespace

TEST_CASE("every command opens a model in one file", "[cli]") {
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "x.gguf").string();
  write_file(file, with_tokenizer().bytes());
  for (const auto& model : {file, directory.path().string()}) {
    CAPTURE(model);
    const auto info = json::parse(out_of({"info", "-m", model, "--tensors", "--json"}));
    CHECK(info["model"] == "tiny");
    CHECK(info["family"] == "llama");
    CHECK(info["tensors"][0]["name"] == "blk.0.attn_k.weight");
    CHECK(info[model == file ? "file" : "directory"] == model);
    CHECK(out_of({"info", "-m", model, "--check", "--tensors"}).find("blk.0.attn_k.weight") != std::string::npos);
    CHECK(out_of({"tokenize", "-m", model, "-p", "he hey", "--format", "ids"}) == "1,7,7,8\n");
    CHECK(out_of({"tokenize", "-m", model, "-p", "he", "--format", "ids", "--bos", "yes"}) == "1,7\n");
    CHECK(!out_of({"generate", "-m", model, "-p", "he", "-n", "5", "--temp", "0", "--ignore-eos"}).empty());
    CHECK(out_of({"attention", "-m", model, "-p", "he", "--format", "csv"}).find("he") != std::string::npos);
    CHECK(json::parse(out_of({"heads", "-m", model, "-p", "he", "--format", "json"}))["model"] == "tiny");
  }
}

TEST_CASE("--tokenizer names another tokenizer, for any model", "[cli]") {
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "x.gguf").string();
  write_file(file, with_tokenizer().bytes());
  const auto stories = std::string(QKV_TEST_DATA) + "/real/stories260K-hf";
  CHECK(out_of({"tokenize", "-m", stories, "--tokenizer", file, "-p", "he", "--format", "ids"}) == "1,7\n");
  const auto text = out_of({"generate", "-m", stories, "-n", "20", "--temp", "0", "-p", "Once upon a time"});
  CHECK(out_of({"generate", "-m", stories, "--tokenizer", stories + "/tokenizer.json", "-n", "20", "--temp", "0", "-p",
                "Once upon a time"}) == text);
  for (const auto& wrong :
       {directory.path().string(), (directory.path() / "none").string(), stories + "/config.json"}) {
    const auto run = run_program({"tokenize", "-m", stories, "--tokenizer", wrong, "-p", "he"});
    CAPTURE(run.err);
    CHECK(run.status == 3);
    CHECK(run.err.find(wrong) != std::string::npos);
  }
}

TEST_CASE("a broken model file ends with 3 and one line that names it", "[cli]") {
  const TemporaryDirectory directory;
  const auto whole = with_tokenizer().bytes();
  for (const auto& [name, bytes] : {std::pair<std::string, std::string>{"cut.gguf", whole.substr(0, whole.size() / 2)},
                                    {"short.bin", std::string(28, '\1')},
                                    {"text.txt", "hello"}}) {
    const auto path = (directory.path() / name).string();
    write_file(path, bytes);
    for (const auto* command : {"info", "generate", "attention", "heads"}) {
      auto arguments = std::vector<std::string>{command, "-m", path};
      if (command != std::string("info")) arguments.insert(arguments.end(), {"--ids", "1"});
      const auto run = run_program(arguments);
      CAPTURE(command, run.err);
      CHECK(run.status == 3);
      CHECK(run.err.rfind("qkv: error: " + path, 0) == 0);
      CHECK(line_count(run.err) == 1);
    }
  }
}

TEST_CASE("files as their author published them tell what their author's program tells", "[cli][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  const auto real = *reference / "real";
  const auto expected = told(real / "reference" / "stories260K.greedy250.txt");
  const auto tokenizer = (real / "llama2c" / "tok512.bin").string();
  for (const auto* file : {"llama2c/stories260K.bin", "llama2c/checkpoint_v1_b.bin", "gguf/stories260K-f32.gguf"}) {
    CAPTURE(file);
    const std::vector<std::string> command{"generate", "-m", (real / file).string(), "-n", "250", "--temp", "0",
                                           "-p",       ""};
    CHECK(out_of(command) == expected);
    auto with = command;
    with.insert(with.end(), {"--tokenizer", tokenizer, "--cache"});
    CHECK(out_of(with) == expected);
  }
  for (const auto& [file, text] :
       {std::pair<std::string, std::string>{"babyllama-tok105.bin", "BabyLlama-tok105.greedy250.txt"},
        {"stories260K-q80-v2.bin", "stories260K-q8.greedy250.txt"}}) {
    CAPTURE(file);
    std::vector<std::string> command{"generate", "-m", (real / "llama2c" / file).string(), "-n", "250", "--temp", "0",
                                     "-p",       ""};
    CHECK(out_of(command) == told(real / "reference" / text));
    // Rounding inputs to bytes makes a step of what was the last bit of a sum, so that of rounded models the text need
    // not be the same where sums are taken in another order: with the cache, on a processor without fused products.
    if (file == "stories260K-q80-v2.bin") continue;
    command.emplace_back("--cache");
    CHECK(out_of(command) == told(real / "reference" / text));
  }
  // The author's program counts the prompt's tokens among its steps, so it ends somewhere in ours.
  for (const auto& [file, text] :
       {std::pair<std::string, std::string>{"stories260K.bin", "stories260K.prompt.greedy120.txt"},
        {"babyllama-tok105.bin", "BabyLlama-tok105.prompt.greedy120.txt"}}) {
    CAPTURE(file);
    const auto continued = out_of({"generate", "-m", (real / "llama2c" / file).string(), "-n", "120", "--temp", "0",
                                   "--echo", "-p", "One day, Tim and Sue"});
    CHECK(continued.rfind(told(real / "reference" / text), 0) == 0);
  }
}

}  // namespace qkv::test
