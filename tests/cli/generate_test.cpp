// qkv generate, as a user runs it.

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "qkv/ops/linear.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

const std::string data = QKV_TEST_DATA;
const std::string stories = data + "/real/stories260K-hf";

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string without_line_end(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Text of a run that must succeed.
std::string text_of(const std::vector<std::string>& arguments, const std::string& input = {}) {
  const auto run = run_program(arguments, {.input = input, .environment = {}});
  INFO(run.err);
  REQUIRE(run.status == 0);
  return run.out;
}

std::vector<std::string> plus(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("the stories model tells what its author's program tells", "[cli]") {
  const std::vector<std::string> greedy{"generate", "-m", stories, "--temp", "0", "-n", "250"};
  const auto expected = without_line_end(slurp(data + "/real/stories260K.greedy250.txt"));
  CHECK(text_of(greedy) == expected);
  CHECK(text_of(plus(greedy, {"--cache"})) == expected);

  // The author's program counts the prompt's tokens among its steps, so it ends somewhere in ours.
  const auto continued =
      text_of({"generate", "-m", stories, "--temp", "0", "-n", "120", "--echo", "-p", "One day, Tim and Sue"});
  CHECK(continued.rfind(without_line_end(slurp(data + "/real/stories260K.prompt.greedy120.txt")), 0) == 0);
}

TEST_CASE("the character model tells what its author's program tells", "[cli][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  const auto real = *reference / "real";
  const auto text = text_of({"generate", "-m", (real / "BabyLlama-tok105-hf").string(), "--temp", "0", "-n", "250"});
  CHECK(text == without_line_end(slurp((real / "reference" / "BabyLlama-tok105.greedy250.txt").string())));
}

TEST_CASE("greedy ids of every golden model come out of the program", "[cli]") {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/models")) {
    ++compared;
    INFO(entry.path().string());
    const Arrays expected(entry.path() / "expected.safetensors");
    std::string prompt;
    for (const auto id : expected.ids("gen.prompt")) prompt += std::to_string(id) + ",";
    std::string ids;
    for (const auto id : expected.ids("gen.tokens")) ids += (ids.empty() ? "" : ",") + std::to_string(id);
    const std::vector<std::string> arguments{"generate", "-m", entry.path().string(), "--ids", prompt, "-n", "20",
                                             "--temp",   "0",  "--ignore-eos"};
    CHECK(text_of(arguments) == ids + "\n");
    CHECK(text_of(plus(arguments, {"--cache"})) == ids + "\n");
  }
  CHECK(compared >= 13);
}

TEST_CASE("one seed gives one text, with any number of threads and either loop", "[cli]") {
  for (const auto& model : {stories, std::string()}) {
    std::vector<std::string> arguments{"generate", "-p", "Once upon a time", "-n", "80", "--seed", "12345"};
    if (!model.empty()) arguments = plus(arguments, {"-m", model});
    const auto text = text_of(plus(arguments, {"-t", "1"}));
    CHECK(text.size() > 40);
    CHECK(text_of(plus(arguments, {"-t", "2"})) == text);
    CHECK(text_of(plus(arguments, {"-t", "1", "--cache"})) == text);
    CHECK(text_of(plus(arguments, {"-t", "2", "--cache"})) == text);
    arguments[6] = "12346";
    CHECK(text_of(arguments) != text);
  }
}

TEST_CASE("one seed gives one text with any number of threads, for every backend and precision", "[cli]") {
  for (const auto& backend : ops::linear_backends())
    for (const auto precision : backend.precisions) {
      const std::vector<std::string> arguments{"generate",
                                               "-m",
                                               stories,
                                               "-p",
                                               "One day",
                                               "-n",
                                               "40",
                                               "--seed",
                                               "7",
                                               "--backend",
                                               std::string(backend.name),
                                               "--precision",
                                               std::string(ops::name_of(precision))};
      CAPTURE(arguments);
      const auto text = text_of(plus(arguments, {"-t", "1"}));
      CHECK(text.size() > 40);
      CHECK(text_of(plus(arguments, {"-t", "2"})) == text);
      CHECK(text_of(plus(arguments, {"-t", "1"})) == text);
    }
}

TEST_CASE("the verbose log says who multiplies, and in which precision", "[cli]") {
  for (const auto& backend : ops::linear_backends()) {
    const auto run =
        run_program({"-v", "generate", "-m", stories, "-p", "x", "-n", "1", "--backend", std::string(backend.name)});
    CHECK(run.status == 0);
    CHECK(run.err.find("backend " + std::string(backend.name) + ", f32") != std::string::npos);
  }
}

TEST_CASE("the prompt comes from an option, a file or standard input, the same each way", "[cli]") {
  const std::vector<std::string> greedy{"generate", "-m", stories, "--temp", "0", "-n", "12"};
  const auto text = text_of(plus(greedy, {"-p", "One day"}));
  CHECK(text_of(greedy, "One day") == text);
  CHECK(text_of(plus(greedy, {"-f", "-"}), "One day") == text);
  CHECK(text_of(plus(greedy, {"--escape", "-p", "One\\x20day"})) == text);
  CHECK(text_of(plus(greedy, {"--bos", "yes", "-p", "One day"})) == text);
  CHECK(text_of(plus(greedy, {"--echo", "-p", "One day"})) == "One day" + text);
}

TEST_CASE("a stop text ends the text and is not part of it", "[cli]") {
  const auto text = text_of({"generate", "-m", stories, "--temp", "0", "-n", "60"});
  const auto at = text.find(" little girl");
  REQUIRE(at != std::string::npos);
  CHECK(text_of({"generate", "-m", stories, "--temp", "0", "-n", "60", "--stop", " little girl"}) ==
        text.substr(0, at));
  CHECK(text_of({"generate", "-m", stories, "--temp", "0", "-n", "60", "--stop", "never said"}) == text);
}

TEST_CASE("json and jsonl hold what the contract names", "[cli]") {
  const std::vector<std::string> arguments{"generate", "-m",     stories, "-p",         "One day", "-n",
                                           "5",        "--seed", "7",     "--logprobs", "3"};
  const auto object = json::parse(text_of(plus(arguments, {"--json"})));
  for (const auto* key :
       {"schema", "model", "prompt_ids", "ids", "text", "stop_reason", "seed", "sampling", "logprobs", "timing"})
    CHECK(object.contains(key));
  CHECK(object["ids"].size() == 5);
  CHECK(object["seed"] == 7);
  CHECK(object["stop_reason"] == "length");
  REQUIRE(object["logprobs"].size() == 5);
  CHECK(object["logprobs"][0]["top"].size() == 3);
  CHECK(object["logprobs"][0]["top"][0]["logprob"].get<double>() >=
        object["logprobs"][0]["top"][1]["logprob"].get<double>());
  CHECK(object["text"] == text_of({"generate", "-m", stories, "-p", "One day", "-n", "5", "--seed", "7"}));

  std::istringstream lines(text_of(plus(arguments, {"--jsonl"})));
  std::string text;
  int tokens = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto one = json::parse(line);
    if (one.contains("schema")) {
      CHECK(one["ids"] == object["ids"]);
      continue;
    }
    CHECK(one["index"] == tokens++);
    text += one["text"].get<std::string>();
  }
  CHECK(tokens == 5);
  CHECK(text == object["text"]);
}

TEST_CASE("results go to stdout and nothing else does", "[cli]") {
  const auto run = run_program({"generate", "-m", stories, "--temp", "0", "-n", "8", "-v"});
  CHECK(run.out == text_of({"generate", "-m", stories, "--temp", "0", "-n", "8", "-q"}));
  CHECK(run.err.find("seed") != std::string::npos);
  CHECK(run_program({"generate", "-m", stories, "--temp", "0", "-n", "8", "-q"}).err.empty());
}

TEST_CASE("an interrupt leaves what was made so far and ends with 130", "[cli]") {
  const auto run = interrupt_underway(
      {"generate", "-m", stories, "-n", "2000000", "--ignore-eos", "--on-overflow", "slide", "--json"},
      {.interrupt = std::chrono::milliseconds(600)},
      [](const Run& one) { return !one.out.empty() && json::parse(one.out)["ids"].size() > 1; });
  INFO(run.err);
  CHECK(run.status == 130);
  const auto object = json::parse(run.out);
  CHECK(object["stop_reason"] == "interrupted");
  CHECK(object["ids"].size() > 1);
  CHECK_FALSE(object["text"].get<std::string>().empty());
}

TEST_CASE("a full context stops, slides or is refused, as asked", "[cli]") {
  const std::vector<std::string> arguments{
      "generate",     "-m",    data + "/models/llama-tied", "--ids", "1,5,9", "-n", "100", "--temp", "0",
      "--ignore-eos", "--json"};
  const auto stopped = json::parse(text_of(arguments));
  CHECK(stopped["stop_reason"] == "context");
  CHECK(stopped["ids"].size() == 62);  // the last one needs no place of its own
  const auto slid = json::parse(text_of(plus(arguments, {"--on-overflow", "slide"})));
  CHECK(slid["stop_reason"] == "length");
  CHECK(slid["ids"].size() == 100);
  CHECK(json::parse(text_of(plus(arguments, {"--on-overflow", "slide", "--cache"})))["ids"] == slid["ids"]);
}

TEST_CASE("a prompt that slides out of the context is not cut without a word", "[cli]") {
  std::string ids = "1";
  for (int id = 2; id <= 70; ++id) ids += "," + std::to_string(id);
  const auto run = run_program({"generate", "-m", data + "/models/llama-tied", "--ids", ids, "-n", "2", "-q",
                                "--ignore-eos", "--on-overflow", "slide"});
  CHECK(run.status == 0);
  CHECK(run.err.rfind("qkv: warning: prompt: 37 of 70 tokens are left out", 0) == 0);  // kept: 1, and the last 32
  CHECK(line_count(run.err) == 1);
}

TEST_CASE("a table that cannot fit the context is refused before anything is generated", "[cli]") {
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "x.npy").string();
  const std::vector<std::string> arguments{
      "generate", "-m", data + "/models/llama-tied", "--ids", "1,5,9", "--ignore-eos", "--attention", file, "-n"};
  const auto slid = run_program(plus(arguments, {"62", "--on-overflow", "slide"}));
  CHECK(slid.status == 4);
  CHECK(slid.out.empty());
  CHECK(slid.err.find("--attention: ") != std::string::npos);
  CHECK(slid.err.find("3 tokens and up to 62 new ones") != std::string::npos);
  CHECK(run_program(plus(arguments, {"61", "--on-overflow", "slide"})).status == 0);
  // The last token that fits is chosen and not run: it has no row.
  const auto stopped = run_program(plus(arguments, {"100"}));
  CHECK(stopped.status == 0);
  CHECK(stopped.err.find("the last token is left out") != std::string::npos);
  CHECK(slurp(file).find("64, 64, )") != std::string::npos);
}

TEST_CASE("--attention writes over what is no table of numbers only with --force", "[cli]") {
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "x.npy").string();
  write_file(file, "my notes");
  const std::vector<std::string> arguments{"generate", "-m", stories, "-p", "One day", "-n", "2", "--attention", file};
  const auto refused = run_program(arguments);
  CHECK(refused.status == 2);
  CHECK(refused.out.empty());
  CHECK(refused.err.find("--force overwrites it") != std::string::npos);
  CHECK(std::filesystem::file_size(file) == 8);
  CHECK(run_program(plus(arguments, {"--force"})).status == 0);
  CHECK(std::filesystem::file_size(file) > 1000);
}

}  // namespace qkv::test
