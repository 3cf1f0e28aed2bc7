// qkv attention and qkv heads, as a user runs them.

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string models = std::string(QKV_TEST_DATA) + "/models";

struct Npy {
  std::string header;
  std::vector<float> numbers;
};

Npy read_npy(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const auto bytes = text.str();
  REQUIRE(bytes.size() > 10);
  REQUIRE(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[8])) +
                      256U * static_cast<std::size_t>(static_cast<unsigned char>(bytes[9]));
  CHECK((10 + length) % 64 == 0);
  Npy npy{bytes.substr(10, length), std::vector<float>((bytes.size() - 10 - length) / 4)};
  std::memcpy(npy.numbers.data(), bytes.data() + 10 + length, npy.numbers.size() * 4);
  return npy;
}

std::string ids_text(const std::vector<TokenId>& ids) {
  std::string text;
  for (const auto id : ids) text += std::to_string(id) + ",";
  return text;
}

/// The numbers that --what gives for the ids of a golden.
Npy inspect_ids(const fs::path& model, const std::vector<TokenId>& ids, const std::string& what,
                const std::vector<std::string>& more = {}) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "out.npy";
  std::vector<std::string> arguments{"attention", "-m", model.string(), "--ids",      ids_text(ids),
                                     "--what",    what, "-o",           file.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto run = run_program(arguments);
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK(run.out.empty());
  return read_npy(file);
}

/// Without the last of the residual stream's states: the reference's stands after the final norm.
std::vector<float> but_last(std::vector<float> numbers, std::size_t count) {
  numbers.resize(numbers.size() - count);
  return numbers;
}

}  // namespace

TEST_CASE("the arrays of the program equal the reference", "[cli][golden]") {
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(models)) {
    INFO(entry.path().string());
    const Arrays expected(entry.path() / "expected.safetensors");
    for (const std::string length : {"n1", "n7", "n33"}) {
      if (!expected.has(length + ".input_ids")) continue;
      ++compared;
      const auto ids = expected.ids(length + ".input_ids");
      const auto state =
          static_cast<std::size_t>(ids.size()) * static_cast<std::size_t>(expected.shape(length + ".hidden")[2]);
      CHECK(largest_difference(inspect_ids(entry.path(), ids, "weights").numbers, expected.floats(length + ".attn")) <
            1e-5);
      CHECK(largest_difference(inspect_ids(entry.path(), ids, "logits").numbers, expected.floats(length + ".logits")) <
            1e-4);
      CHECK(largest_difference(but_last(inspect_ids(entry.path(), ids, "residual").numbers, state),
                               but_last(expected.floats(length + ".hidden"), state)) < 1e-4);
      if (!expected.has(length + ".keys")) continue;
      CHECK(largest_difference(inspect_ids(entry.path(), ids, "k").numbers, expected.floats(length + ".keys")) < 1e-4);
      CHECK(largest_difference(inspect_ids(entry.path(), ids, "v").numbers, expected.floats(length + ".values")) <
            1e-4);
    }
  }
  CHECK(compared >= 38);
}

TEST_CASE("shapes are those of the contract", "[cli]") {
  const fs::path model = fs::path(models) / "llama-rope-llama3";  // D 64, 4 heads of 16, 2 key/value heads, V 96
  const std::vector<TokenId> ids{1, 2, 3, 4, 5};
  const auto shape_of = [&](const std::string& what) { return inspect_ids(model, ids, what).header; };
  const auto has = [](const std::string& header, const std::string& shape) {
    return header.find(shape) != std::string::npos;
  };
  CHECK(has(shape_of("weights"), "(2, 4, 5, 5, )"));
  CHECK(has(shape_of("scores"), "(2, 4, 5, 5, )"));
  CHECK(has(shape_of("q"), "(2, 4, 5, 16, )"));
  CHECK(has(shape_of("head_out"), "(2, 4, 5, 16, )"));
  CHECK(has(shape_of("k"), "(2, 2, 5, 16, )"));
  CHECK(has(shape_of("v"), "(2, 2, 5, 16, )"));
  CHECK(has(shape_of("attn_out"), "(2, 5, 64, )"));
  CHECK(has(shape_of("mlp_out"), "(2, 5, 64, )"));
  CHECK(has(shape_of("residual"), "(3, 5, 64, )"));
  CHECK(has(shape_of("embedding"), "(5, 64, )"));
  CHECK(has(shape_of("logits"), "(5, 96, )"));
  CHECK(has(shape_of("similarity"), "(5, 5, )"));
}

TEST_CASE("layers and heads come in the order asked for", "[cli]") {
  const fs::path model = fs::path(models) / "gpt2-layeridx";
  const std::vector<TokenId> ids{1, 2, 3, 4, 5, 6};
  const auto all = inspect_ids(model, ids, "weights").numbers;  // [3, 4, 6, 6]
  const auto chosen = inspect_ids(model, ids, "weights", {"--layer", "2,0", "--head", "3,1"}).numbers;
  REQUIRE(chosen.size() == 2 * 2 * 36);
  const auto table = [](const std::vector<float>& numbers, std::size_t index) {
    return std::vector<float>(numbers.begin() + static_cast<std::ptrdiff_t>(index * 36),
                              numbers.begin() + static_cast<std::ptrdiff_t>((index + 1) * 36));
  };
  CHECK(table(chosen, 0) == table(all, 2 * 4 + 3));
  CHECK(table(chosen, 1) == table(all, 2 * 4 + 1));
  CHECK(table(chosen, 2) == table(all, 3));
  CHECK(table(chosen, 3) == table(all, 1));
}

TEST_CASE("masked scores are blank in every form", "[cli]") {
  const fs::path model = fs::path(models) / "gpt2-hub";
  const auto npy = inspect_ids(model, {1, 2, 3}, "scores", {"--layer", "0", "--head", "0"}).numbers;
  CHECK(std::isnan(npy[1]));
  CHECK(std::isfinite(npy[0]));
  CHECK(std::isfinite(npy[8]));
  const std::vector<std::string> base{"attention", "-m", model.string(), "--ids", "1,2,3",   "--what", "scores",
                                      "--layer",   "0",  "--head",       "0",     "--format"};
  auto arguments = base;
  arguments.emplace_back("json");
  const auto object = json::parse(run_program(arguments).out);
  CHECK(object["values"][0][0][0][1].is_null());
  CHECK(object["values"][0][0][2][2].get<float>() == npy[8]);
  CHECK(object["axes"] == json::array({"layer", "head", "query", "key"}));
  arguments = base;
  arguments.emplace_back("csv");
  const auto csv = run_program(arguments).out;
  CHECK(csv.rfind("layer,head,query,key,query_token,key_token,value\r\n", 0) == 0);
  CHECK(line_count(csv) == 1 + 6);  // only what a query may see
}

TEST_CASE("generated tokens are part of the one square table", "[cli]") {
  const fs::path model = fs::path(models) / "llama-tied";
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "w.npy").string();
  CHECK(run_program({"generate", "-m", model.string(), "--ids", "1,5,9", "-n", "4", "--temp", "0", "--ignore-eos",
                     "--attention", file})
            .status == 0);
  const auto generated = read_npy(file);
  CHECK(generated.header.find("(2, 4, 7, 7, )") != std::string::npos);
  CHECK(inspect_ids(model, {1, 5, 9}, "weights", {"-n", "4"}).numbers == generated.numbers);
}

TEST_CASE("huge scores stay finite after the softmax", "[cli]") {
  const TemporaryDirectory directory;
  auto model = tiny_llama();
  for (const auto* name : {"model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.k_proj.weight"}) {
    auto numbers = model.numbers(name);
    for (auto& number : numbers) number *= 1e15F;
    model.tensor(name).bytes = bytes_of(numbers);
  }
  write_hugging_face(model, directory.path());
  const std::vector<TokenId> ids{1, 2, 3, 4};
  const auto scores = inspect_ids(directory.path(), ids, "scores", {"--layer", "0", "--head", "0"}).numbers;
  float largest = 0.0F;
  for (const auto score : scores)
    if (!std::isnan(score)) largest = std::max(largest, std::abs(score));
  CHECK(largest > 1e25F);
  const auto weights = inspect_ids(directory.path(), ids, "weights", {"--layer", "0", "--head", "0"}).numbers;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    double sum = 0.0;
    for (std::size_t key = 0; key < ids.size(); ++key) {
      if (key > t) CHECK(weights[t * 4 + key] == 0.0F);
      sum += static_cast<double>(weights[t * 4 + key]);
    }
    CHECK(std::abs(sum - 1.0) < 1e-6);
  }
}

TEST_CASE("a file of another kind is not overwritten without --force", "[cli]") {
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "notes.npy").string();
  const std::vector<std::string> arguments{"attention", "-m", models + "/gpt2-hub", "--ids", "1,2", "-o", file};
  write_file(file, "my notes");
  CHECK(run_program(arguments).status == 2);
  CHECK(fs::file_size(file) == 8);
  auto forced = arguments;
  forced.emplace_back("--force");
  CHECK(run_program(forced).status == 0);
  CHECK(run_program(arguments).status == 0);  // an earlier output gives way
  CHECK(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()) == 1);
  CHECK(run_program({"attention", "-m", models + "/gpt2-hub", "--ids", "1,2", "-o", "/nowhere/x.npy"}).status == 1);
}

TEST_CASE("a link is followed, a device is written, neither is replaced", "[cli]") {
  const TemporaryDirectory directory;
  const auto run = [&](const std::string& file) {
    return run_program({"attention", "-m", models + "/gpt2-hub", "--ids", "1,2", "--format", "npy", "-o", file}).status;
  };
  fs::create_symlink("target.npy", directory.path() / "link.npy");
  write_file(directory.path() / "target.npy", "");
  CHECK(run((directory.path() / "link.npy").string()) == 0);
  CHECK(fs::is_symlink(directory.path() / "link.npy"));
  CHECK(read_npy(directory.path() / "target.npy").numbers.size() == 2 * 4 * 2 * 2);
  CHECK(run("/dev/full") == 1);
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("every form may be written again over itself", "[cli]") {
  const TemporaryDirectory directory;
  for (const std::string what : {"weights", "logits", "embedding", "similarity"})
    for (const std::string ending : {"csv", "json", "npy", "safetensors", "svg", "png", "pdf", "html", "txt"}) {
      CAPTURE(what, ending);
      const auto file = (directory.path() / (what + "." + ending)).string();
      const std::vector<std::string> arguments{
          "attention", "-m", models + "/gpt2-hub", "--ids", "1,2,3", "--what", what, "-o", file};
      CHECK(run_program(arguments).status == 0);
      CHECK(run_program(arguments).status == 0);
    }
}

TEST_CASE("an interrupted table leaves nothing behind", "[cli]") {
  const TemporaryDirectory directory;
  std::string ids = "1";
  for (int i = 0; i < 500; ++i) ids += ",300";
  // Some 200 MB of text in all, which takes seconds.
  const auto run = interrupt_underway({"attention", "-m", std::string(QKV_TEST_DATA) + "/real/stories260K-hf", "--ids",
                                       ids, "-o", (directory.path() / "w.csv").string()},
                                      {.interrupt = std::chrono::milliseconds(300)},
                                      [](const Run& one) { return !one.err.empty(); });
  CHECK(run.status == 130);
  CHECK(run.err.find("interrupted") != std::string::npos);
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("numbers that are not finite are shown, and end with 5", "[cli]") {
  const TemporaryDirectory directory;
  auto model = tiny_gpt2();
  model.tensor("h.1.attn.c_proj.weight").bytes.replace(0, 4, std::string("\x00\x00\xC0\x7F", 4));  // NaN
  write_hugging_face(model, directory.path());
  const auto attention = run_program({"attention", "-m", directory.path().string(), "--ids", "1,2"});
  CHECK(attention.status == 5);
  CHECK(attention.err.find("layer 1") != std::string::npos);
  CHECK(attention.out.find("weights, layer 1") != std::string::npos);
  CHECK(run_program({"heads", "-m", directory.path().string(), "--ids", "1,2"}).status == 5);
}

TEST_CASE("ids that are not there are refused before anything is written", "[cli]") {
  const auto run = run_program({"attention", "-m", models + "/gpt2-hub", "--ids", "1,500", "--format", "json"});
  CHECK(run.status == 4);
  CHECK(run.out.empty());
}

TEST_CASE("a head report, and what becomes of the next token without a head", "[cli]") {
  const std::vector<std::string> arguments{
      "heads", "-p", "The dog chased the ball. The dog", "--ablate", "3:0", "--ablate", "4:1", "--format", "json"};
  const auto run = run_program(arguments);
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto object = json::parse(run.out);
  CHECK(object["heads"].size() >= 4);
  for (const auto& head : object["heads"]) {
    CHECK(head["first"].get<double>() >= 0.0);
    CHECK(head["first"].get<double>() <= 1.0);
    CHECK(head["induction"].is_number());
  }
  CHECK(object["ablation"]["kl_divergence_nats"].get<double>() > 0.0);
  CHECK(object["ablation"]["before"].size() == 5);
  const auto alone = json::parse(run_program({"heads", "-p", "dog", "--format", "json"}).out);
  CHECK(alone["heads"][0]["induction"].is_null());
}

TEST_CASE("-o takes a pipe, and - for standard output", "[cli]") {
  const TemporaryDirectory directory;
  const auto run = [&](const std::string& output, const std::string& after) {
    return run_program({"-c", "cd " + directory.path().string() + " && " + QKV_PROGRAM + " attention -m " + models +
                                  "/gpt2-hub --ids 1,2 --layer 0 --head 0 --format csv" + output + after},
                       {.program = "/bin/bash"});
  };
  const auto expected = run("", "").out;
  CHECK(line_count(expected) == 4);
  CHECK(run(" -o -", "").out == expected);
  CHECK(run(" -o /dev/stdout", " | cat").out == expected);
  CHECK(run(" -o >(cat)", " | cat").out == expected);
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("tokens that are single bytes can be told apart in json and csv", "[cli]") {
  const std::vector<std::string> arguments{"attention", "-p", "a\xE6\xE7", "--layer", "0", "--head", "0", "--format"};
  auto with = arguments;
  with.emplace_back("json");
  const auto tokens = json::parse(run_program(with).out)["tokens"];
  REQUIRE(tokens.size() >= 3);
  CHECK(tokens[tokens.size() - 2]["text_hex"] == "e6");
  CHECK(tokens[tokens.size() - 1]["text_hex"] == "e7");
  CHECK(tokens[tokens.size() - 1]["text"] == "\xEF\xBF\xBD");
  CHECK_FALSE(tokens[0].contains("text_hex"));
  with.back() = "csv";
  const auto csv = run_program(with).out;
  CHECK(csv.find(",\\xE7,\\xE6,") != std::string::npos);
}

TEST_CASE("what a missing head changes is said even to who wants quiet", "[cli]") {
  const auto csv = run_program({"heads", "-q", "-p", "The dog", "--ablate", "0:1", "--format", "csv"});
  CHECK(csv.status == 0);
  CHECK(line_count(csv.out) == 21);
  CHECK(csv.err.find("next token without 0:1: ") != std::string::npos);
  CHECK(csv.err.find("KL divergence: ") != std::string::npos);
  const auto text = run_program({"generate", "-q", "-p", "The dog", "-n", "1", "--ablate", "0:1"});
  CHECK(text.err.find("KL divergence: ") != std::string::npos);
  CHECK(run_program({"generate", "-q", "-p", "The dog", "-n", "1", "--ablate", "0:1", "--json"}).err.empty());
}

TEST_CASE("the table of logits shows the likeliest tokens with their text", "[cli]") {
  const auto run = run_program({"attention", "-p", "The dog", "--what", "logits"});
  const auto next = run_program({"generate", "-q", "-p", "The dog", "-n", "1", "--temp", "0", "--json"});
  const auto object = json::parse(next.out);
  auto text = object["text"].get<std::string>();
  REQUIRE(text.rfind(' ', 0) == 0);
  text.replace(0, 1, "\u00b7");
  const auto last = run.out.rfind("largest  ");
  REQUIRE(last != std::string::npos);
  const auto expected = object["ids"][0].dump() + " " + text + ": ";
  CHECK(run.out.substr(last + 9, expected.size()) == expected);
  const auto without = run_program({"attention", "-m", models + "/gpt2-hub", "--ids", "1", "--what", "logits"});
  const auto row = without.out.substr(without.out.find("largest  ") + 9);
  CHECK(row.find(": ") < row.find(' '));
}

TEST_CASE("the size is told about right, and not of what is refused", "[cli]") {
  const TemporaryDirectory directory;
  std::string ids = "1";
  for (int id = 2; id <= 250; ++id) ids += "," + std::to_string(id);
  const auto told = [](const std::string& err) {
    const auto at = err.find(", about ");
    REQUIRE(at != std::string::npos);
    REQUIRE(err.find(" MB", at) != std::string::npos);
    return std::stod(err.substr(at + 8)) * 1e6;
  };
  for (const std::string format : {"csv", "json", "npy", "html"})
    for (const std::string what : {"weights", "scores", "residual", "logits"}) {
      CAPTURE(format, what);
      const auto file = (directory.path() / ("x." + format)).string();
      const auto run = run_program({"attention", "--ids", ids, "--what", what, "-o", file, "--force", "-v"});
      REQUIRE(run.status == 0);
      const auto size = static_cast<double>(fs::file_size(file));
      if (size < 2e6) continue;
      const auto ratio = told(run.err) / size;
      CHECK(ratio > 0.7);
      CHECK(ratio < 1.4);
    }
  const auto refused =
      run_program({"attention", "--ids", ids + "," + ids, "-o", (directory.path() / "y.npy").string()});
  CHECK(refused.status == 4);
  CHECK(line_count(refused.err) == 1);
  CHECK(refused.err.find("expected at most 256 tokens (the model's context), found 500") != std::string::npos);
}

}  // namespace qkv::test
