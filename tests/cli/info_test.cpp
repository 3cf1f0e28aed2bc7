// qkv info, as a user runs it.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run_program.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

const std::string tiny = std::string(QKV_TEST_DATA) + "/models/gpt2-hub";

}  // namespace

TEST_CASE("info --check reads every weight", "[cli]") {
  const auto run = run_program({"info", "-m", tiny, "--check"});
  CHECK(run.status == 0);
  CHECK(run.out.find("0 not finite") != std::string::npos);
  const auto all = run_program({"info", "-m", tiny, "--check", "--tensors"});
  CHECK(all.out.find("mean") != std::string::npos);
  const auto object = json::parse(run_program({"info", "-m", tiny, "--check", "--tensors", "--json"}).out);
  CHECK(object["check"]["not_finite"] == 0);
  CHECK(object["check"]["numbers"] == object["parameters"]);
  CHECK(object["check"]["tensors"][0]["std"].get<double>() > 0.0);

  const TemporaryDirectory directory;
  auto model = tiny_llama();
  auto numbers = model.numbers("model.layers.1.mlp.up_proj.weight");  // [12, 8]
  numbers[19] = std::numeric_limits<float>::quiet_NaN();
  model.tensor("model.layers.1.mlp.up_proj.weight").bytes = bytes_of(numbers);
  write_hugging_face(model, directory.path());
  const auto bad = run_program({"info", "-m", directory.path().string(), "--check"});
  CHECK(bad.status == 5);
  CHECK(bad.err.find("'model.layers.1.mlp.up_proj.weight'") != std::string::npos);
  CHECK(bad.err.find("nan at [2, 3]") != std::string::npos);
  CHECK(bad.out.find("model.layers.1.mlp.up_proj.weight") != std::string::npos);
}

TEST_CASE("info --config goes as far as a config goes", "[cli]") {
  const TemporaryDirectory directory;
  const auto config = (directory.path() / "some.json").string();
  write_file(config, tiny_llama().config.dump());
  const auto run = run_program({"info", "--config", config});
  CHECK(run.status == 0);
  CHECK(run.out.find("rotary, theta 10000") != std::string::npos);
  CHECK(run.out.find("lm_head.weight") != std::string::npos);
  CHECK(run.out.find("[11, 8]") != std::string::npos);
  const auto object = json::parse(run_program({"info", "--config", config, "--json"}).out);
  std::int64_t parameters = 0;
  for (const auto& tensor : object["tensors"]) {
    std::int64_t count = 1;
    for (const auto& extent : tensor["shape"]) count *= extent.get<std::int64_t>();
    parameters += count;
  }
  CHECK(object["parameters"] == parameters);

  auto odd = tiny_llama().config;
  odd["sliding_wings"] = 3;
  write_file(config, odd.dump());
  const auto refused = run_program({"info", "--config", config});
  CHECK(refused.status == 3);
  CHECK(refused.err.find("sliding_wings") != std::string::npos);
  CHECK(run_program({"info", "--config", config, "--ignore-key", "sliding_wings"}).status == 0);
  CHECK(run_program({"info", "--config", config, "-m", tiny}).status == 2);
  CHECK(run_program({"info", "--config", config, "--check"}).status == 2);
}

TEST_CASE("info --tensors gives the shapes of a model whose files have no header", "[cli]") {
  const auto table = run_program({"info", "--tensors"}).out;
  CHECK(table.find("f32    [2048, 128]") != std::string::npos);
  const auto object = json::parse(run_program({"info", "--tensors", "--json"}).out);
  const auto tensors = object["tensors"];
  std::int64_t parameters = 0;
  for (const auto& tensor : tensors) {
    std::int64_t count = 1;
    for (const auto& extent : tensor["shape"]) count *= extent.get<std::int64_t>();
    CHECK(count * 4 == tensor["bytes"]);
    parameters += count;
    if (tensor["name"] == "embedding.tokens") CHECK(tensor["shape"] == json::array({2048, 128}));
  }
  CHECK(parameters == object["parameters"]);
}

}  // namespace qkv::test
