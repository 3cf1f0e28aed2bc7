// Whole models against values that Hugging Face's own code computed (float32, and float64 for comparison).

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "qkv/generate/generate.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/recorder.hpp"
#include "support/reference.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

constexpr double logit_tolerance = 1e-4;
constexpr double weight_tolerance = 1e-5;

/// The largest difference met, per kind of array.
struct Differences {
  double logits = 0.0;
  double weights = 0.0;
  double hidden = 0.0;
};

/// The last of the reference's hidden states stands after the final norm, ours before it: compare those in between.
double hidden_difference(const std::vector<float>& ours, const std::vector<float>& reference, std::size_t last) {
  if (ours.size() != reference.size()) return largest_difference(ours, reference);
  return largest_difference({ours.begin(), ours.end() - static_cast<std::ptrdiff_t>(last)},
                            {reference.begin(), reference.end() - static_cast<std::ptrdiff_t>(last)});
}

void compare_length(const Model& model, const Arrays& expected, const std::string& length, int threads,
                    Differences& most) {
  const auto ids = expected.ids(length + ".input_ids");
  const auto n = static_cast<std::int64_t>(ids.size());
  Session session(model, threads);
  Recorder recorder(model.config(), n);
  const auto view = session.forward(ids, Rows::all, &recorder);
  const std::vector<float> logits(view.data, view.data + view.rows * view.cols);
  most.logits = std::max(most.logits, largest_difference(logits, expected.floats(length + ".logits")));
  most.weights = std::max(most.weights, largest_difference(recorder.weights(), expected.floats(length + ".attn")));
  if (!expected.has(length + ".hidden")) return;
  most.hidden = std::max(most.hidden, hidden_difference(recorder.residual(), expected.floats(length + ".hidden"),
                                                        static_cast<std::size_t>(n * model.config().d_model)));
}

/// Greedy ids, and the logits each was chosen by. End tokens do not stop the reference.
void compare_greedy(const Model& model, const Arrays& expected, bool cache, int threads, Differences& most) {
  Session session(model, threads);
  Sampler greedy({.temperature = 0.0});
  const auto tokens = expected.ids("gen.tokens");
  std::vector<float> logits;
  const auto generation =
      generate(session, expected.ids("gen.prompt"), greedy,
               {.max_new_tokens = static_cast<std::int64_t>(tokens.size()), .cache = cache, .ignore_eos = true},
               [&](const NewToken& token) {
                 logits.insert(logits.end(), token.logits.begin(), token.logits.end());
                 return Next::go_on;
               });
  CHECK(generation.ids == tokens);
  most.logits = std::max(most.logits, largest_difference(logits, expected.floats("gen.logits")));
}

Model loaded_with(const fs::path& folder, const ops::LinearBackend& backend) {
  LoadOptions options;
  options.backend = backend.name;
  return Model::load(folder, options);
}

void check_folder(const fs::path& folder, const ops::LinearBackend& backend) {
  INFO(folder.string());
  CAPTURE(backend.name);
  const auto model = loaded_with(folder, backend);
  const Arrays expected(folder / "expected.safetensors");
  Differences most;
  int threads = 2;
  for (const auto* length : {"n1", "n7", "n33", "n48"}) {
    threads = 3 - threads;  // 1 and 2, in turn
    if (expected.has(length + std::string(".input_ids"))) compare_length(model, expected, length, threads, most);
  }
  compare_greedy(model, expected, false, 2, most);
  compare_greedy(model, expected, true, 1, most);
  fmt::print("{:24} {:9} logits {:.1e}  weights {:.1e}  hidden {:.1e}\n", folder.filename().string(), backend.name,
             most.logits, most.weights, most.hidden);
  std::fflush(stdout);
  CHECK(most.logits < logit_tolerance);
  CHECK(most.weights < weight_tolerance);
  CHECK(most.hidden < logit_tolerance);
}

void check_folder(const fs::path& folder) {
  for (const auto& backend : ops::linear_backends()) check_folder(folder, backend);
}

std::vector<fs::path> folders_of(const fs::path& parent) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(parent))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

void check_embedded_model(const ops::LinearBackend& backend) {
  CAPTURE(backend.name);
  const auto model = loaded_with(fs::path(QKV_SOURCE_DIR) / "models" / "nursery", backend);
  const Arrays expected(fs::path(QKV_TEST_DATA) / "nursery.safetensors");
  for (const std::string name : {"dog", "once", "gift"}) {
    INFO(name);
    Differences most;
    compare_length(model, expected, name, 2, most);
    CHECK(most.logits < logit_tolerance);
    CHECK(most.weights < weight_tolerance);
    for (const bool cache : {false, true}) {
      Session session(model);
      Sampler greedy({.temperature = 0.0});
      const auto ids = expected.ids(name + ".greedy");
      const auto generation =
          generate(session, expected.ids(name + ".input_ids"), greedy,
                   {.max_new_tokens = static_cast<std::int64_t>(ids.size()), .cache = cache, .ignore_eos = true},
                   [](const NewToken&) { return Next::go_on; });
      CHECK(generation.ids == ids);
    }
  }
}

}  // namespace

TEST_CASE("models of the repository equal the reference", "[golden]") {
  const auto folders = folders_of(fs::path(QKV_TEST_DATA) / "models");
  REQUIRE(folders.size() >= 25);
  for (const auto& folder : folders) check_folder(folder);
}

TEST_CASE("the published sorting model gives its published logits", "[golden]") {
  const auto folder = fs::path(QKV_TEST_DATA) / "real" / "gpt-nano-sort-hf";
  const auto model = Model::load(folder);
  std::ifstream file(folder / "reference.json");
  const auto reference = nlohmann::json::parse(file);
  REQUIRE(reference["idx"].size() == 3);
  for (std::size_t i = 0; i < reference["idx"].size(); ++i) {
    const auto ids = reference["idx"][i].get<std::vector<TokenId>>();
    std::vector<float> expected;
    for (const auto& row : reference["logits"][i])
      for (const auto& logit : row) expected.push_back(logit.get<float>());
    Session session(model);
    const auto view = session.forward(ids, Rows::all);
    CHECK(largest_difference({view.data, view.data + view.rows * view.cols}, expected) < logit_tolerance);
  }
}

TEST_CASE("the embedded model equals numpy's computation from its files", "[golden]") {
  for (const auto& backend : ops::linear_backends()) check_embedded_model(backend);
}

TEST_CASE("every reference folder is equalled", "[golden][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  for (const auto& folder : folders_of(*reference / "oracle")) check_folder(folder);
}

}  // namespace qkv::test
