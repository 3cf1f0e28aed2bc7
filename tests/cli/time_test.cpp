// qkv time, as a user runs it.

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/catch.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

/// A model so small that timing it is over at once.
class TinyDirectory {
 public:
  TinyDirectory() { write_native(tiny_native(), directory_.path()); }
  [[nodiscard]] std::string path() const { return directory_.path().string(); }

 private:
  TemporaryDirectory directory_;
};

Run time_tiny(const std::vector<std::string>& more) {
  const TinyDirectory model;
  std::vector<std::string> arguments{"time", "-m", model.path(), "--lengths", "1-4*2", "-r", "5"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("time prints a table with both modes, their ratio and their growth", "[cli]") {
  const auto run = time_tiny({"--breakdown"});
  INFO(run.err);
  CHECK(run.status == 0);
  for (const auto* part : {"recompute",
                           "cached",
                           "median",
                           "p90",
                           "spread",
                           "tokens/s",
                           "GFLOP/s",
                           "GB/s",
                           "limit",
                           "reached",
                           "trust",
                           "recompute / cached",
                           "largest logit difference",
                           "norms",
                           "W_q W_k W_v",
                           "softmax",
                           "all parts",
                           "whole pass",
                           "cost of asking",
                           "how it grows",
                           "4 tokens"})
    CHECK(has(run.out, part));
  CHECK_FALSE(has(run.out, "nan"));
  CHECK_FALSE(has(run.out, "inf"));
}

TEST_CASE("every form of time holds the same medians", "[cli]") {
  const auto text = time_tiny({"--format", "json", "--mode", "cached", "--breakdown"});
  REQUIRE(text.status == 0);
  const auto report = json::parse(text.out);
  CHECK(report["schema"] == "qkv.time/1");
  REQUIRE(report["rows"].size() == 3);
  CHECK(report["rows"][2]["length"] == 4);
  CHECK(report["rows"][2]["samples_s"].size() == 5);
  CHECK(report["comparisons"].empty());
  for (const auto* key : {"machine", "build", "limits", "growth", "open_s", "first_pass_s", "peak_memory_bytes"})
    CHECK(report.contains(key));

  const auto lines = time_tiny({"--format", "jsonl"});
  CHECK(line_count(lines.out) == 7);
  CHECK(line_count(time_tiny({"--format", "jsonl", "--mode", "both"}).out) == 7);
  std::istringstream stream(lines.out);
  for (std::string line; std::getline(stream, line);) CHECK(json::parse(line).is_object());

  const auto csv = time_tiny({"--format", "csv", "--breakdown"});
  CHECK(line_count(csv.out) == 1 + 6 * 10);
  std::istringstream rows(csv.out);
  for (std::string line; std::getline(rows, line);) CHECK(std::count(line.begin(), line.end(), ',') == 17);

  CHECK(has(time_tiny({"--format", "md"}).out, "\n|---"));
}

TEST_CASE("a report is a baseline for the next one", "[cli]") {
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "then.json").string();
  const TinyDirectory model;
  const std::vector<std::string> arguments{"time", "-m", model.path(), "--lengths", "2", "--format", "json"};
  std::ofstream(file) << run_program(arguments).out;
  auto again = arguments;
  again.insert(again.end(), {"--baseline", file});
  const auto report = json::parse(run_program(again).out);
  for (const auto& row : report["rows"])
    CHECK(row["ratio_to_baseline"].get<double>() ==
          Approx(row["median_s"].get<double>() / row["baseline_median_s"].get<double>()));
  const auto other = time_tiny({"--baseline", "no-such.json"});
  CHECK(other.status == 2);
  CHECK(has(other.err, "--baseline"));
}

TEST_CASE("the plot is a picture with a line for each mode, and no file of a person is lost for it", "[cli]") {
  const TemporaryDirectory directory;
  const auto file = (directory.path() / "plot.svg").string();
  REQUIRE(time_tiny({"--plot", file}).status == 0);
  std::ifstream stream(file);
  const std::string svg{std::istreambuf_iterator<char>(stream), {}};
  CHECK(has(svg, "everything recomputed"));
  CHECK(has(svg, "keys and values kept"));
  CHECK_FALSE(has(svg, "nan"));
  CHECK(time_tiny({"--plot", file}).status == 0);  // an earlier picture is replaced
  std::ofstream(file) << "notes of a person";
  CHECK(time_tiny({"--plot", file}).status == 2);
  CHECK(time_tiny({"--plot", file, "--force"}).status == 0);
}

TEST_CASE("threads are swept, and each has its limits", "[cli]") {
  const auto run = time_tiny({"--threads", "1,2", "--format", "json"});
  REQUIRE(run.status == 0);
  const auto report = json::parse(run.out);
  CHECK(report["limits"].size() == 2);
  CHECK(report["rows"].size() == 12);
  CHECK(report["rows"][0]["threads"] == 1);
  CHECK(report["rows"][11]["threads"] == 2);
}

TEST_CASE("a shape needs no model", "[cli]") {
  const auto run = run_program({"time", "--shape", "nursery", "--lengths", "3", "-r", "1", "--format", "json"});
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto report = json::parse(run.out);
  CHECK(report["model"]["random_weights"] == true);
  CHECK(report["model"]["parameters"] == 1'253'760);
  CHECK(report["rows"][0]["noisy"] == true);  // one sample proves nothing
  CHECK(has(run.err, "too few"));

  const TinyDirectory model;
  const auto of_file =
      run_program({"time", "--shape", model.path() + "/config.json", "--lengths", "2", "-r", "5", "--format", "json"});
  CHECK(of_file.status == 0);
}

TEST_CASE("what makes no sense is refused before anything is opened", "[cli]") {
  const auto refused = [](const std::vector<std::string>& more, const std::string& option, int status = 2) {
    auto arguments = more;
    arguments.insert(arguments.begin(), "time");
    const auto run = run_program(arguments);
    CAPTURE(option);
    CAPTURE(run.err);
    CHECK(run.status == status);
    CHECK(has(run.err, option));
    CHECK(line_count(run.err) == 1);
    CHECK(run.out.empty());
  };
  refused({"--lengths", "0"}, "--lengths");
  refused({"--lengths", "257"}, "--lengths");
  refused({"--lengths", "4,4"}, "--lengths");
  refused({"--lengths", "1-64*1"}, "--lengths");
  refused({"--lengths", "8-4+1"}, "--lengths");
  refused({"--threads", "0"}, "--threads");
  refused({"--threads", "2000"}, "--threads");
  refused({"--mode", "recompute,both"}, "--mode");
  refused({"--mode", "cached,cached"}, "--mode");
  refused({"-r", "0"}, "--repetitions");
  refused({"--plot", "x.txt"}, "--plot");
  refused({"--plot", "x.svg", "--lengths", "4"}, "--plot");
  refused({"--shape", "gpt5"}, "--shape");
  refused({"--shape", "gpt2", "-m", "x"}, "--shape");
  refused({"-m", "no-such-directory"}, "no-such-directory", 3);
}

TEST_CASE("Ctrl-C reports what is there", "[cli]") {
  const auto run = interrupt_underway(
      {"time", "--lengths", "256", "-r", "100000", "--mode", "recompute", "--format", "json"},
      {.interrupt = std::chrono::milliseconds(1500)},
      [](const Run& one) { return !one.out.empty() && json::parse(one.out)["rows"][0]["samples_s"].size() > 2; });
  CHECK(run.status == 130);
  REQUIRE_FALSE(run.out.empty());
  const auto report = json::parse(run.out);
  CHECK(report["partial"] == true);
  CHECK(report["rows"][0]["samples_s"].size() > 2);
  CHECK(has(run.err, "partial"));
}

TEST_CASE("a line of progress goes to a terminal only", "[cli]") {
  const auto run = run_program({"time", "-q", "--shape", "nursery", "--lengths", "2", "-r", "5", "--mode", "cached",
                                "--precision", "bf16", "--accuracy"});
  if (run.status == 2) {
    WARN("skipped: no backend that is built in offers bf16");
    return;
  }
  CHECK(run.status == 0);
  CHECK_FALSE(has(run.err, "\r"));
  CHECK_FALSE(has(run.err, "\x1b"));
}

TEST_CASE("usual lengths that do not fit the context are left out, and named", "[cli]") {
  const auto run = run_program({"time", "-m", std::string(QKV_TEST_DATA) + "/real/gpt-nano-sort-hf", "-r", "5",
                                "--mode", "cached", "--format", "csv"});
  CHECK(run.status == 0);
  CHECK(line_count(run.out) == 2);
  CHECK(has(run.err, "qkv: --lengths: of the usual ones 16, 64, 256 left out"));
}

}  // namespace qkv::test
