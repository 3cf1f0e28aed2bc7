// qkv score, as a user runs it.

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

const std::string stories = std::string(QKV_TEST_DATA) + "/real/stories260K-hf";
const std::string tiny = std::string(QKV_TEST_DATA) + "/models/gpt2-hub";
const std::string text = "Once upon a time, there was a little dog.";

std::string output_of(const std::vector<std::string>& arguments, const std::string& input = {}) {
  const auto run = run_program(arguments, {.input = input});
  INFO(run.err);
  REQUIRE(run.status == 0);
  return run.out;
}

/// The sentence, said so often that it is longer than the context.
std::string long_text() {
  std::string all;
  for (int i = 0; i < 120; ++i) all += text + " ";
  return all;
}

}  // namespace

TEST_CASE("score tells the same in each form", "[cli]") {
  const auto object = json::parse(output_of({"score", "-m", stories, "-p", text, "--format", "json", "--top", "2"}));
  CHECK(object["schema"] == "qkv.score/1");
  CHECK(object["window"] == 512);
  CHECK(object["stride"] == 256);
  const auto& tokens = object["tokens"];
  const auto& summary = object["summary"];
  REQUIRE(tokens.size() == summary["tokens"].get<std::size_t>());
  CHECK(tokens[0]["text"] == "<s>");
  CHECK(tokens[0]["logprob"].is_null());
  double sum = 0.0;
  std::string joined;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    sum += tokens[i]["logprob"].get<double>();
    joined += tokens[i]["text"].get<std::string>();
    CHECK(tokens[i]["position"] == i);
    CHECK(tokens[i]["top"].size() == 2);
    CHECK(tokens[i]["probability"].get<double>() == Approx(std::exp(tokens[i]["logprob"].get<double>())));
  }
  CHECK(joined == " " + text);
  const auto scored = summary["scored"].get<double>();
  CHECK(scored == static_cast<double>(tokens.size() - 1));
  CHECK(summary["perplexity"].get<double>() == Approx(std::exp(-sum / scored)));
  CHECK(summary["bytes"] == text.size());
  CHECK(summary["bits_per_byte"].get<double>() == Approx(-sum / std::log(2.0) / static_cast<double>(text.size())));
  CHECK(summary["complete"] == true);

  const auto table = output_of({"score", "-m", stories, "-p", text});
  CHECK(line_count(table) == static_cast<long>(tokens.size()) + 8);
  CHECK(table.find("' Once'") != std::string::npos);
  CHECK(table.find("perplexity") != std::string::npos);
  const auto csv = run_program({"score", "-m", stories, "-p", text, "--format", "csv", "--top", "1"});
  CHECK(line_count(csv.out) == static_cast<long>(tokens.size()) + 1);
  CHECK(csv.out.rfind("position,id,token,logprob,probability,rank,context,top1_id,top1_token,top1_logprob\r\n", 0) ==
        0);
  CHECK(csv.err.find("perplexity") != std::string::npos);
}

TEST_CASE("no more likely tokens are shown than there are", "[cli]") {
  for (const auto* format : {"csv", "table", "json"}) {
    CAPTURE(format);
    const std::vector<std::string> arguments{"score", "-m", tiny, "--ids", "1,2,3", "--format", format};
    const auto top = [&](const char* count) {
      auto all = arguments;
      all.insert(all.end(), {"--top", count});
      return output_of(all);
    };
    CHECK((top("1000000") == top("96")));  // the whole vocabulary
    CHECK((top("95") != top("96")));
  }
}

TEST_CASE("score takes text from a file, standard input, or as ids", "[cli]") {
  const auto expected = output_of({"score", "-m", stories, "-p", text});
  CHECK(output_of({"score", "-m", stories}, text) == expected);
  const TemporaryDirectory directory;
  write_file(directory.path() / "text", text);
  CHECK(output_of({"score", "-m", stories, "-f", (directory.path() / "text").string()}) == expected);
  const auto object = json::parse(output_of({"score", "-m", tiny, "--ids", "1,2,3", "--format", "json"}));
  CHECK(object["tokens"][1]["text"] == "2");
  CHECK(object["summary"]["bytes"].is_null());
}

TEST_CASE("--summary leaves the tokens out", "[cli]") {
  const auto all = json::parse(output_of({"score", "-m", stories, "-p", text, "--format", "json"}));
  const auto brief = json::parse(output_of({"score", "-m", stories, "-p", text, "--format", "json", "--summary"}));
  CHECK(brief.count("tokens") == 0);
  CHECK(brief["summary"] == all["summary"]);
  CHECK(line_count(output_of({"score", "-m", stories, "-p", text, "--summary"})) == 6);
  CHECK(line_count(output_of({"score", "-m", stories, "-p", text, "--summary", "--format", "csv"})) == 2);
}

TEST_CASE("the first token is scored only where something stands before it", "[cli]") {
  const auto with = json::parse(output_of({"score", "-m", stories, "-p", text, "--format", "json"}));
  const auto without = json::parse(output_of({"score", "-m", stories, "-p", text, "--format", "json", "--bos", "no"}));
  CHECK(without["tokens"][0]["text"] == " Once");
  CHECK(without["tokens"][0]["logprob"].is_null());
  CHECK(without["summary"]["scored"].get<int>() == with["summary"]["scored"].get<int>() - 1);
  CHECK(without["summary"]["bytes"] == text.size() - 4);
}

TEST_CASE("a text longer than the context is scored whole", "[cli]") {
  for (const auto* stride : {"64", "256", "511"}) {
    const auto object =
        json::parse(output_of({"score", "-m", stories, "--format", "json", "--stride", stride}, long_text()));
    CHECK(object["tokens"].size() > 1024);
    CHECK(object["summary"]["scored"] == object["tokens"].size() - 1);
    CHECK(object["summary"]["bytes"] == long_text().size());
    CHECK(object["summary"]["perplexity"].get<double>() < 10.0);  // it says the same again and again
  }
}

TEST_CASE("a head that is left out changes the scores", "[cli]") {
  const std::vector<std::string> arguments{"score", "-m", stories, "-p", text, "--format", "json"};
  auto ablated = arguments;
  ablated.insert(ablated.end(), {"--ablate", "0:1", "--ablate", "4:7"});
  const auto object = json::parse(output_of(ablated));
  CHECK(object["without_heads"] == "0:1 4:7");
  CHECK(object["summary"]["perplexity"] != json::parse(output_of(arguments))["summary"]["perplexity"]);
}

TEST_CASE("score refuses what makes no sense", "[cli]") {
  const auto status = [](const std::vector<std::string>& arguments) {
    const auto run = run_program(arguments);
    CHECK(run.out.empty());
    CHECK(run.err.rfind("qkv: error: ", 0) == 0);
    CHECK(line_count(run.err) == 1);
    return run.status;
  };
  CHECK(status({"score", "-m", stories, "-p", text, "--stride", "512"}) == 2);
  CHECK(status({"score", "-m", stories, "-p", text, "--window", "513"}) == 2);
  CHECK(status({"score", "-m", stories, "-p", text, "--stride", "0"}) == 2);
  CHECK(status({"score", "-m", stories, "-p", text, "--ablate", "9:0"}) == 2);
  CHECK(status({"score", "-m", stories, "-p", text, "--format", "png"}) == 2);
  CHECK(status({"score", "-m", stories, "-p", ""}) == 4);
  CHECK(status({"score", "-m", tiny, "--ids", "1"}) == 4);
  CHECK(status({"score", "-m", tiny, "--ids", "1,96"}) == 4);
}

TEST_CASE("an interrupted score tells what it has and ends with 130", "[cli]") {
  std::string endless;
  for (int i = 0; i < 50; ++i) endless += long_text();
  const auto run = interrupt_underway({"score", "-m", stories, "--format", "json", "--stride", "1"},
                                      {.input = endless, .interrupt = std::chrono::milliseconds(1500)},
                                      [](const Run& one) { return !one.out.empty(); });
  CHECK(run.status == 130);
  CHECK(run.err.find("partial") != std::string::npos);
  const auto object = json::parse(run.out);
  CHECK(object["summary"]["complete"] == false);
  CHECK(object["summary"]["tokens"] == object["tokens"].size());
}

TEST_CASE("csv has no place for the perplexity, which is said even to who wants quiet", "[cli]") {
  const auto run = run_program({"score", "-q", "-p", "The dog ran.", "--format", "csv"});
  CHECK(run.err.find("perplexity ") != std::string::npos);
  CHECK(line_count(run.err) == 1);
  CHECK(run_program({"score", "-q", "-p", "The dog ran.", "--format", "csv", "--summary"}).err.empty());
}

}  // namespace qkv::test
