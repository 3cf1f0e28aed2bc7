// Who multiplies: by name, by itself, and what it costs in precision.

#include "qkv/model/backend_choice.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

using ops::Precision;

const ops::LinearBackend* packing_backend() {
  for (const auto& backend : ops::linear_backends())
    if (backend.packs) return &backend;
  return nullptr;
}

Config config_of_width(std::int64_t d_model) {
  auto config = tiny_config();
  config.d_model = d_model;
  return config;
}

std::string_view choice(Precision precision, const Config& config, bool read_weights = true) {
  LoadOptions options;
  options.precision = precision;
  options.read_weights = read_weights;
  return choose_backend(options, config).name;
}

/// A model wide enough for auto to pack it.
TinyModel wide_model() {
  auto config = config_of_width(256);
  config.attention.head_dim = 64;
  config.attention.scale = 0.125;
  config.mlp.d_ff = 700;
  config.n_ctx = 80;
  return tiny_native(config, 5);
}

std::vector<float> logits_of(const Model& model, int threads = 1) {
  Session session(model, threads);
  return copied(session.forward(random_ids(model.config(), 40), Rows::all));
}

double largest(const std::vector<float>& numbers) {
  double most = 0.0;
  for (const auto number : numbers) most = std::max(most, std::abs(static_cast<double>(number)));
  return most;
}

}  // namespace

TEST_CASE("an unknown backend is the caller's mistake", "[model]") {
  const auto refuse = [](std::string_view backend, Precision precision, const std::vector<std::string>& parts) {
    LoadOptions options;
    options.backend = backend;
    options.precision = precision;
    check_refused(
        ErrorCode::usage, [&] { (void)choose_backend(options, tiny_config()); }, parts);
  };
  refuse("cuda", Precision::f32, {"backend", "auto", "openblas", "found cuda"});
  refuse("openblas", Precision::bf16, {"precision", "expected f32", "openblas", "found bf16"});
  if (packing_backend() == nullptr) refuse("auto", Precision::bf16, {"precision", "expected f32", "found bf16"});
}

TEST_CASE("auto packs the matrices of wide models where the processor is fast at it, and no others", "[model]") {
  CHECK(choice(Precision::f32, config_of_width(128)) == "openblas");
  CHECK(choice(Precision::f32, config_of_width(768), false) == "openblas");
  const auto* packing = packing_backend();
  if (packing == nullptr) return;
  CHECK(choice(Precision::f32, config_of_width(768)) ==
        (packing->is_fast(Precision::f32) ? packing->name : "openblas"));
  CHECK(choice(Precision::bf16, config_of_width(768)) == packing->name);
  CHECK(choice(Precision::bf16, config_of_width(128)) == packing->name);
}

TEST_CASE("every backend gives the same logits, and bf16 nearly the same", "[model]") {
  const auto files = wide_model();
  const auto expected = logits_of(loaded(files, "openblas", Precision::f32));
  for (const auto& backend : ops::linear_backends())
    for (const auto precision : backend.precisions) {
      CAPTURE(backend.name, ops::name_of(precision));
      const auto model = loaded(files, backend.name, precision);
      CHECK(model.backend() == backend.name);
      CHECK(model.precision() == precision);
      const auto logits = logits_of(model);
      const auto share = largest_difference(logits, expected) / largest(expected);
      CHECK(share < (precision == Precision::f32 ? 1e-5 : 0x1p-5));
      CHECK(largest_difference(logits_of(model, 2), logits) < 1e-2 * largest(expected));
    }
}

TEST_CASE("a session that keeps keys gives the logits of all at once, for every backend", "[model]") {
  const auto files = wide_model();
  for (const auto& backend : ops::linear_backends()) {
    CAPTURE(backend.name);
    const auto model = loaded(files, backend.name, Precision::f32);
    const auto expected = logits_of(model);
    Session session(model, 1);
    std::vector<float> logits;
    for (const auto id : random_ids(model.config(), 40)) {
      const auto row = copied(session.forward({&id, 1}));
      logits.insert(logits.end(), row.begin(), row.end());
    }
    CHECK(largest_difference(logits, expected) < 1e-5 * largest(expected));
  }
}

}  // namespace qkv::test
