// qkv convert, as a user runs it: complete or absent, and nothing of anybody else's is lost.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

const std::string stories = std::string(QKV_TEST_DATA) + "/real/stories260K-hf";
const std::string tiny = std::string(QKV_TEST_DATA) + "/models/gpt2-bf16";

Run convert(const std::string& from, const fs::path& to, std::vector<std::string> more = {"--to", "native"}) {
  more.insert(more.begin(), {"convert", from, to.string()});
  return run_program(more);
}

void check_refused_convert(const Run& run, int status, const std::vector<std::string>& parts) {
  CAPTURE(run.err);
  CHECK(run.status == status);
  CHECK(run.err.find("qkv: error: ") != std::string::npos);
  for (const auto& part : parts) {
    CAPTURE(part);
    CHECK(run.err.find(part) != std::string::npos);
  }
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string story_by(const fs::path& model) {
  const auto run = run_program({"generate", "-m", model.string(), "-p", "One day", "-n", "30", "--temp", "0"});
  INFO(run.err);
  CHECK(run.status == 0);
  return run.out;
}

}  // namespace

TEST_CASE("a converted model tells the same story", "[cli]") {
  const TemporaryDirectory directory;
  const auto expected = story_by(stories);
  for (const std::string form : {"native", "safetensors"}) {
    const auto to = directory.path() / form;
    const auto run = convert(stories, to, {"--to", form});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.err.find("47 tensors, 1040128 bytes as f32") != std::string::npos);
    CHECK(run.out.empty());
    CHECK(story_by(to) == expected);
    CHECK(fs::exists(to / "tokenizer.json"));
    CHECK(fs::exists(to / (form == "native" ? "weights" : "model.safetensors")));
    CHECK(run_program({"info", "-m", to.string()}).out.find("stories260K-hf") != std::string::npos);
  }
  CHECK(names_in(directory.path()) == std::vector<std::string>{"native", "safetensors"});
}

TEST_CASE("the dtype can be chosen, and is that of the source where not", "[cli]") {
  const TemporaryDirectory directory;
  CHECK(convert(tiny, directory.path() / "a").err.find("as bf16") != std::string::npos);
  CHECK(convert(tiny, directory.path() / "b", {"--to", "native", "--dtype", "f32"}).status == 0);
  CHECK(fs::exists(directory.path() / "a" / "weights" / "final_norm.gain.bf16"));
  CHECK(fs::exists(directory.path() / "b" / "weights" / "final_norm.gain.f32"));
  CHECK(convert(tiny, directory.path() / "c").err.find("no tokenizer") != std::string::npos);
}

TEST_CASE("usage errors of convert end with 2, before anything is read", "[cli]") {
  const TemporaryDirectory directory;
  const auto to = directory.path() / "to";
  check_refused_convert(run_program({"convert", stories, to.string()}), 2, {"--to"});
  check_refused_convert(run_program({"convert", stories}), 2, {"TO"});
  check_refused_convert(convert(stories, to, {"--to", "gguf"}), 2, {"gguf"});
  check_refused_convert(convert(stories, to, {"--to", "native", "--dtype", "f64"}), 2, {"f64"});
  check_refused_convert(convert("/nowhere", to), 3, {"/nowhere"});
  check_refused_convert(convert(stories, directory.path() / "no" / "such"), 1, {"no/such"});
  CHECK(names_in(directory.path()).empty());
}

TEST_CASE("what is there is not replaced unless told, and only what convert wrote", "[cli]") {
  const TemporaryDirectory directory;
  const auto to = directory.path() / "to";
  REQUIRE(convert(tiny, to).status == 0);
  check_refused_convert(convert(stories, to), 2, {to.string(), "--force"});
  CHECK(fs::exists(to / "weights" / "final_norm.gain.bf16"));

  const std::vector<std::string> force{"--to", "safetensors", "--force"};
  REQUIRE(convert(stories, to, force).status == 0);
  CHECK(names_in(to) ==
        std::vector<std::string>{"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"});
  write_file(to / "notes.txt", "mine");
  check_refused_convert(convert(stories, to, force), 2, {"notes.txt"});
  CHECK(fs::exists(to / "notes.txt"));
  CHECK(fs::exists(to / "model.safetensors"));

  fs::create_directory(directory.path() / "empty");
  CHECK(convert(stories, directory.path() / "empty", force).status == 0);
  write_file(directory.path() / "file", "mine");
  check_refused_convert(convert(stories, directory.path() / "file", force), 2, {"file"});
  fs::create_directory_symlink(to, directory.path() / "link");
  check_refused_convert(convert(stories, directory.path() / "link", force), 2, {"link"});
  CHECK(names_in(directory.path()) == std::vector<std::string>{"empty", "file", "link", "to"});
}

TEST_CASE("a model is never written over the one that is read", "[cli]") {
  const TemporaryDirectory directory;
  const auto to = directory.path() / "to";
  REQUIRE(convert(tiny, to).status == 0);
  const std::vector<std::string> force{"--to", "native", "--force"};
  check_refused_convert(convert(to.string(), to, force), 2, {"another directory"});
  check_refused_convert(convert(to.string() + "/../to/", to / "", force), 2, {"another directory"});
  check_refused_convert(convert(to.string(), directory.path(), force), 2, {"another directory"});
  fs::create_directory_symlink(to, directory.path() / "link");
  check_refused_convert(convert((directory.path() / "link").string(), to, force), 2, {"another directory"});
  CHECK(run_program({"info", "-m", to.string()}).status == 0);
}

TEST_CASE("a number too large for the dtype leaves nothing", "[cli]") {
  const TemporaryDirectory directory;
  auto model = tiny_llama();
  model.tensor("lm_head.weight").bytes.replace(0, 4, bytes_of({1e6F}));
  write_hugging_face(model, directory.path() / "from");
  check_refused_convert(
      convert((directory.path() / "from").string(), directory.path() / "to", {"--to", "safetensors", "--dtype", "f16"}),
      5, {"head.W", "f16"});
  CHECK(names_in(directory.path()) == std::vector<std::string>{"from"});
}

TEST_CASE("a full disk leaves nothing, and what was there stays", "[cli]") {
  const TemporaryDirectory directory;
  const auto to = directory.path() / "to";
  REQUIRE(convert(tiny, to).status == 0);
  for (const std::string form : {"native", "safetensors"}) {
    // Files of at most 64 kB: a write beyond that fails as one on a full disk does.
    const auto run = run_program({"-c", "trap '' XFSZ; ulimit -f 64; " + std::string(QKV_PROGRAM) + " convert " +
                                            stories + " " + to.string() + " --force --to " + form},
                                 {.program = "/bin/sh"});
    check_refused_convert(run, 1, {"cannot be written"});
    CHECK(names_in(directory.path()) == std::vector<std::string>{"to"});
    CHECK(fs::exists(to / "weights" / "final_norm.gain.bf16"));
  }
}

}  // namespace qkv::test
