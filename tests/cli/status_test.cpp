// Exit statuses and messages of the program: a contract that scripts rely on.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/gguf_file.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

const std::string tiny = std::string(QKV_TEST_DATA) + "/models/gpt2-hub";

/// One line on stderr, with the usual beginning and all of `parts`; nothing on stdout.
void check_refused_by_program(const Run& run, int status, const std::vector<std::string>& parts) {
  CAPTURE(run.err);
  CHECK(run.status == status);
  CHECK(run.out.empty());
  CHECK(run.err.rfind("qkv: error: ", 0) == 0);
  CHECK(line_count(run.err) == 1);
  for (const auto& part : parts) {
    CAPTURE(part);
    CHECK(run.err.find(part) != std::string::npos);
  }
}

std::string ids_up_to(int count) {
  std::string ids = "1";
  for (int id = 2; id <= count; ++id) ids += "," + std::to_string(id);
  return ids;
}

}  // namespace

TEST_CASE("usage errors end with 2", "[cli]") {
  check_refused_by_program(run_program({}), 2, {"qkv --help"});
  check_refused_by_program(run_program({"generate", "--bogus"}), 2, {"--bogus"});
  check_refused_by_program(run_program({"paint"}), 2, {"paint"});
  check_refused_by_program(run_program({"generate", "-p", "x", "-n", "-1"}), 2, {"--n-predict", "'-1'"});
  check_refused_by_program(run_program({"generate", "-p", "x", "-n", "1.5"}), 2, {"--n-predict", "'1.5'"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--temp", "nan"}), 2, {"--temp", "'nan'"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--temp", "0,5"}), 2, {"--temp", "'0,5'"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--top-p", "1.01"}), 2, {"--top-p", "'1.01'"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--top-k", "99999999999"}), 2, {"--top-k"});
  check_refused_by_program(run_program({"generate", "-p", "x", "-t", "0"}), 2, {"--threads"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--seed", "abc"}), 2, {"--seed", "'abc'"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--stop", ""}), 2, {"--stop"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--logprobs", "3"}), 2, {"--logprobs", "--json"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--ids", "1"}), 2, {"--ids"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--backend", "magic"}), 2, {"--backend", "magic"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--precision", "f16"}), 2, {"--precision", "f16"});
  check_refused_by_program(run_program({"generate", "-p", "x", "--backend", "openblas", "--precision", "bf16"}), 2,
                           {"precision", "expected f32", "openblas", "found bf16"});
  check_refused_by_program(run_program({"generate", "-m", tiny, "--ids", "1,two"}), 2, {"--ids", "'two'"});
  check_refused_by_program(run_program({"generate", "--escape", "-p", "\\q"}), 2, {"--escape", "\\q"});
  check_refused_by_program(run_program({"attention", "-p", "x", "--layer", "9"}), 2, {"--layer", "found 9"});
  check_refused_by_program(run_program({"attention", "-p", "x", "--head", "1-"}), 2, {"--head", "'1-'"});
  check_refused_by_program(run_program({"attention", "-p", "x", "--head", "1073741825"}), 2,
                           {"--head", "from 0 to 1073741824", "'1073741825'"});
  check_refused_by_program(run_program({"attention", "-p", "x", "--layer", "0-99999999"}), 2,
                           {"--layer", "at most 1048576 numbers"});
  check_refused_by_program(run_program({"time", "--shape", "gpt2", "--lengths", "1048576"}), 2,
                           {"--lengths", "1 to 1024", "found 1048576"});
  check_refused_by_program(run_program({"attention", "-p", "x", "--what", "logits", "--head", "0"}), 2,
                           {"--head", "logits"});
  check_refused_by_program(run_program({"attention", "-p", "x", "-o", "table.xyz"}), 2, {"table.xyz", "npy"});
  check_refused_by_program(run_program({"heads", "-p", "x y", "--ablate", "0-1"}), 2, {"--ablate", "'0-1'"});
  check_refused_by_program(run_program({"heads", "-p", "x y", "--ablate", "77:0"}), 2, {"77:0"});
}

TEST_CASE("a model that cannot be used ends with 3", "[cli]") {
  check_refused_by_program(run_program({"generate", "-m", "/nowhere", "-p", "x"}), 3, {"/nowhere", "found nothing"});
  check_refused_by_program(run_program({"generate", "-m", tiny, "-p", "x"}), 3, {"tokenizer.json", "--ids"});
  check_refused_by_program(run_program({"tokenize", "-m", tiny, "-p", "x"}), 3, {"tokenizer.json"});

  const TemporaryDirectory directory;
  auto model = tiny_gpt2();
  model.config["n_head"] = 0;
  write_hugging_face(model, directory.path());
  check_refused_by_program(run_program({"info", "-m", directory.path().string()}), 3,
                           {"config.json", "n_head", "found 0"});

  write_hugging_face(tiny_gpt2(), directory.path());
  const auto whole = safetensors_file(tiny_gpt2().tensors);
  write_file(directory.path() / "model.safetensors", whole.substr(0, whole.size() - 100));
  check_refused_by_program(run_program({"info", "-m", directory.path().string()}), 3,
                           {"model.safetensors", "cut short"});
}

TEST_CASE("what is no model is refused by what it is", "[cli]") {
  const TemporaryDirectory directory;
  const auto& root = directory.path();
  const auto refused = [](const std::filesystem::path& path, const std::string& found) {
    for (const auto* command : {"generate", "info", "attention"}) {
      std::vector<std::string> arguments{command, "-m", path.string()};
      if (command != std::string("info")) arguments.insert(arguments.end(), {"-p", "x"});
      check_refused_by_program(run_program(arguments), 3,
                               {path.string() + ": expected a model directory (with config.json)",
                                "in one file (GGUF, llama2.c), found " + found});
    }
  };
  refused(tiny + "/model.safetensors", "safetensors, which holds weights alone; the directory that it is in may be");
  refused(tiny + "/config.json", "JSON; the directory that it is in may be a model");
  write_file(root / "x.png", "\x89PNG\r\n\x1a\n");
  write_file(root / "x.txt", "Once upon a time");
  write_file(root / "x.model", std::string("\0\xff\xfe", 3));
  write_file(root / "empty", "");
  refused(root / "x.png", "a PNG picture");
  refused(root / "x.txt", "a file of text");
  refused(root / "x.model", "a file of another kind");
  refused(root / "empty", "an empty file");
  refused(root, "no config.json in it");
  write_file(root / "a.gguf", tiny_llama_gguf().bytes());
  write_file(root / "b.gguf", tiny_llama_gguf().bytes());
  refused(root, "no config.json but 2 models in it; name one of them: a.gguf, b.gguf");
}

TEST_CASE("an input that is refused ends with 4", "[cli]") {
  check_refused_by_program(run_program({"generate", "-m", tiny, "--ids", "1,96"}), 4, {"0 to 95", "found 96"});
  check_refused_by_program(run_program({"generate", "-m", tiny, "--ids", ids_up_to(65), "--on-overflow", "error"}), 4,
                           {"64", "found 65"});
  check_refused_by_program(
      run_program({"generate", "-m", tiny, "--ids", ids_up_to(60), "-n", "6", "--on-overflow", "error"}), 4,
      {"60 tokens and 6 new ones", "64"});
  check_refused_by_program(run_program({"generate", "-f", "/nowhere/prompt.txt"}), 4, {"/nowhere/prompt.txt"});
  check_refused_by_program(run_program({"tokenize", "--lines"}, {.input = "not json\n"}), 4, {"line 1", "JSON"});
  CHECK(run_program({"generate", "-m", tiny, "--ids", ids_up_to(60), "-n", "5", "--on-overflow", "error"}).status == 0);
}

TEST_CASE("numbers that are not finite end with 5 and name the place", "[cli]") {
  const TemporaryDirectory directory;
  auto model = tiny_gpt2();
  auto& weight = model.tensor("h.1.attn.c_proj.weight");
  weight.bytes.replace(0, 4, std::string("\x00\x00\xC0\x7F", 4));  // NaN
  write_hugging_face(model, directory.path());
  const auto run = run_program({"generate", "-m", directory.path().string(), "--ids", "1,2"});
  check_refused_by_program(run, 5, {"layer 1", "attn_out", "nan"});
}

TEST_CASE("a message stays on one line whatever a name holds", "[cli]") {
  check_refused_by_program(run_program({"info", "-m", "no\nwhere\x1b[31m"}), 3, {"no\\nwhere\\x1B"});
}

TEST_CASE("what is not asked for a model works without one", "[cli]") {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--help"}, {"--version"}, {"generate", "--help"}, {"completion", "bash"}}) {
    const auto run = run_program(arguments, {.environment = {"QKV_MODEL=/nowhere"}});
    CHECK(run.status == 0);
    CHECK(run.err.empty());
    CHECK_FALSE(run.out.empty());
  }
  CHECK(run_program({"--version"}).out.find("BLAS kernel: ") != std::string::npos);
}

TEST_CASE("global options work before and after the command", "[cli]") {
  CHECK(run_program({"-q", "generate", "-m", tiny, "--ids", "1", "-n", "1"}).err.empty());
  CHECK(run_program({"generate", "-m", tiny, "--ids", "1", "-n", "1", "-q"}).err.empty());
  const TemporaryDirectory directory;
  const auto log = (directory.path() / "log").string();
  CHECK(run_program({"generate", "-m", tiny, "--ids", "1", "-n", "1", "-q", "--log-file", log}).status == 0);
  CHECK(std::filesystem::file_size(log) > 0);
  check_refused_by_program(run_program({"generate", "--ids", "1", "--log-file", "/dev/null/log"}), 1,
                           {"/dev/null/log"});
  const auto missing = directory.path() / "missing";
  check_refused_by_program(run_program({"generate", "--ids", "1", "--log-file", (missing / "log").string()}), 1,
                           {(missing / "log").string(), "No such file"});
  CHECK_FALSE(std::filesystem::exists(missing));
}

TEST_CASE("an id that is not there is refused even where it would slide out of sight", "[cli]") {
  const auto ids = "2000000000," + ids_up_to(80);
  check_refused_by_program(
      run_program({"generate", "-m", tiny, "--ids", ids, "--on-overflow", "slide", "--repeat-penalty", "1.5"}), 4,
      {"found 2000000000"});
}

TEST_CASE("an empty prompt begins with the begin token unless told not to", "[cli]") {
  CHECK(run_program({"generate", "-p", "", "-n", "1"}).status == 0);
  check_refused_by_program(run_program({"generate", "-p", "", "--bos", "no"}), 4, {"at least one token"});
  check_refused_by_program(run_program({"generate", "--ids", ""}), 4, {"at least one token"});
}

TEST_CASE("a line that is nested without end is refused", "[cli]") {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  check_refused_by_program(run_program({"tokenize", "--lines"}, {.input = deep}), 4, {"line 1"});
}

TEST_CASE("a closed standard output is a failure, whatever else is opened", "[cli]") {
  const TemporaryDirectory directory;
  const auto log = (directory.path() / "log").string();
  const auto run = run_program(
      {"-c", std::string(QKV_PROGRAM) + " generate -q -m " + tiny + " --ids 1 -n 3 --log-file " + log + " >&-"},
      {.program = "/bin/sh"});
  CHECK(run.status == 1);
  CHECK(run_program({"-c", std::string(QKV_PROGRAM) + " --help > /dev/full"}, {.program = "/bin/sh"}).status == 1);
}

TEST_CASE("a full disk is a failure, not a success", "[cli]") {
  const auto run =
      run_program({"-c", std::string(QKV_PROGRAM) + " generate -q -m " + tiny + " --ids 1 -n 3 > /dev/full"},
                  {.program = "/bin/sh"});
  CHECK(run.status == 1);
  CHECK(run.err.find("standard output") != std::string::npos);
}

TEST_CASE("QKV_MODEL names the model, -m overrides it", "[cli]") {
  const std::vector<std::string> named{"QKV_MODEL=" + tiny};
  CHECK(run_program({"info"}, {.environment = named}).out.find("gpt2-hub") != std::string::npos);
  check_refused_by_program(run_program({"info", "-m", "/nowhere"}, {.environment = named}), 3, {"/nowhere"});
}

TEST_CASE("an empty value is refused by the option's name", "[cli]") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> given{
      {"--output", {"attention", "-p", "x", "-o", ""}},
      {"--model", {"generate", "-p", "x", "-m", ""}},
      {"--log-file", {"generate", "-p", "x", "--log-file", ""}},
      {"--log-file", {"--log-file", "", "generate", "-p", "x"}},
      {"--lengths", {"time", "--lengths", ""}},
      {"--threads", {"time", "--threads", ""}},
      {"--layer", {"attention", "-p", "x", "--layer", ""}},
      {"--file", {"generate", "-f", ""}},
      {"--attention", {"generate", "-p", "x", "--attention", ""}},
      {"--config", {"info", "--config", ""}}};
  for (const auto& [option, arguments] : given)
    check_refused_by_program(run_program(arguments), 2, {option + ": ", "found an empty one"});
}

TEST_CASE("options that would mean nothing beside each other are refused", "[cli]") {
  for (const auto* format : {"table", "csv", "json", "npy", "safetensors", "html"})
    check_refused_by_program(run_program({"attention", "-p", "x", "--log", "--format", format}), 2,
                             {"--log", "png, svg or pdf", std::string("found ") + format});
  check_refused_by_program(run_program({"tokenize", "--lines", "--format", "ids"}), 2, {"--lines", "--format"});
  for (const auto* command : {"generate", "attention", "heads", "score", "tokenize"}) {
    check_refused_by_program(run_program({command, "--ids", "5,7", "--bos", "yes"}), 2, {"--ids", "--bos yes"});
    check_refused_by_program(run_program({command, "--ids", "5,7", "--special"}), 2, {"--ids", "--special"});
    check_refused_by_program(run_program({command, "--ids", "5,7", "--escape"}), 2, {"--ids", "--escape"});
  }
  CHECK(run_program({"generate", "--ids", "5,7", "-n", "1", "--bos", "no"}).status == 0);
  CHECK(run_program({"generate", "--ids", "5,7", "-n", "1", "--escape", "--stop", "\\n"}).status == 0);
  CHECK(run_program({"tokenize", "--decode", "--ids", "5,7", "--special"}).status == 0);
}

TEST_CASE("a usage error says what could stand there, and where to read on", "[cli]") {
  check_refused_by_program(run_program({"bogus"}), 2,
                           {"command: expected one of generate, attention, ", "found 'bogus'; see qkv --help"});
  check_refused_by_program(run_program({"generat", "-p", "x"}), 2, {"expected one of generate, ", "found 'generat'"});
  check_refused_by_program(run_program({"--bogus"}), 2, {"--bogus", "; see qkv --help"});
  check_refused_by_program(run_program({"generate", "--bogus"}), 2, {"--bogus", "; see qkv generate --help"});
  check_refused_by_program(run_program({"generate", "-n", "x"}), 2, {"found 'x'; see qkv generate --help"});
  check_refused_by_program(run_program({"generate", "Once", "upon"}), 2, {"found 'Once'; a prompt goes with -p"});
  check_refused_by_program(run_program({"completion", "tcsh"}), 2, {"found 'tcsh'; see qkv completion --help"});
}

TEST_CASE("a syntax error in JSON is told in plain words", "[cli]") {
  const auto run = run_program({"tokenize", "--lines"}, {.input = "not json\n"});
  check_refused_by_program(run, 4, {"line 1: expected JSON, found a syntax error: parse error at line 1, column 2"});
  CHECK(run.err.find("json.exception") == std::string::npos);
}

}  // namespace qkv::test
