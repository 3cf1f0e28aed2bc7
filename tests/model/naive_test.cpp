// The whole forward pass against the naive one in double precision, each choice of the config changed in turn.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/naive_model.hpp"

namespace qkv::test {
namespace {

constexpr double tolerance = 2e-5;

struct Variant {
  const char* what;
  std::function<void(Config&)> change;
};

void make_rotary(Config& config, std::int64_t n_rotated, ops::RotaryLayout layout) {
  config.position.kind = PositionConfig::Kind::rotary;
  config.position.rotary.n_rotated = n_rotated;
  config.position.rotary.theta = 100.0;
  config.position.rotary.layout = layout;
}

void without_biases(Config& config) {
  auto& a = config.attention;
  a.bias_q = a.bias_k = a.bias_v = a.bias_o = config.mlp.bias_in = config.mlp.bias_out = config.norm.bias = false;
}

const std::vector<Variant> variants{
    {"as it is", [](Config&) {}},
    {"rms norm", [](Config& c) { c.norm.kind = NormConfig::Kind::rms; }},
    {"a large epsilon", [](Config& c) { c.norm.epsilon = 0.5F; }},
    {"no norm bias", [](Config& c) { c.norm.bias = false; }},
    {"no positions", [](Config& c) { c.position.kind = PositionConfig::Kind::none; }},
    {"rotary halves", [](Config& c) { make_rotary(c, 4, ops::RotaryLayout::halves); }},
    {"rotary pairs", [](Config& c) { make_rotary(c, 4, ops::RotaryLayout::pairs); }},
    {"rotary on a part of wide heads",
     [](Config& c) {
       c.attention.head_dim = 7;
       make_rotary(c, 4, ops::RotaryLayout::halves);
     }},
    {"rotary, linear scaling",
     [](Config& c) {
       make_rotary(c, 4, ops::RotaryLayout::halves);
       c.position.rotary.scaling.kind = RotaryScaling::Kind::linear;
       c.position.rotary.scaling.factor = 3.0;
     }},
    {"one key/value head", [](Config& c) { c.attention.n_kv_heads = 1; }},
    {"two key/value heads for six",
     [](Config& c) {
       c.attention.n_heads = 6;
       c.attention.n_kv_heads = 2;
       c.attention.head_dim = 3;
       make_rotary(c, 2, ops::RotaryLayout::halves);
     }},
    {"another scale", [](Config& c) { c.attention.scale = 1.0; }},
    {"the scale divided by the layer", [](Config& c) { c.attention.scale_divided_by_layer = true; }},
    {"no bias of W_q", [](Config& c) { c.attention.bias_q = false; }},
    {"no bias of W_k", [](Config& c) { c.attention.bias_k = false; }},
    {"no bias of W_v", [](Config& c) { c.attention.bias_v = false; }},
    {"no bias of W_o", [](Config& c) { c.attention.bias_o = false; }},
    {"no bias of W_in", [](Config& c) { c.mlp.bias_in = false; }},
    {"no bias of W_out", [](Config& c) { c.mlp.bias_out = false; }},
    {"no bias at all", without_biases},
    {"gelu_erf", [](Config& c) { c.mlp.activation = ops::Activation::gelu_erf; }},
    {"silu", [](Config& c) { c.mlp.activation = ops::Activation::silu; }},
    {"relu", [](Config& c) { c.mlp.activation = ops::Activation::relu; }},
    {"a gated MLP with biases", [](Config& c) { c.mlp.gated = true; }},
    {"a head of its own", [](Config& c) { c.head.tied = false; }},
    {"a head with a bias",
     [](Config& c) {
       c.head = {false, true};
     }},
    {"a tied head with a bias", [](Config& c) { c.head.bias = true; }},
    {"the embedding scaled", [](Config& c) { c.embedding_scale = 3.5; }},
    {"what is added to the stream scaled", [](Config& c) { c.residual_scale = 0.3; }},
    {"the logits scaled", [](Config& c) { c.logit_scale = -0.25; }},
    {"a single layer", [](Config& c) { c.n_layers = 1; }},
    {"three layers, odd widths",
     [](Config& c) {
       c.n_layers = 3;
       c.d_model = 13;
       c.mlp.d_ff = 31;
       c.n_vocab = 29;
     }},
    {"everything of one well-known kind", [](Config& c) {
       without_biases(c);
       make_rotary(c, 4, ops::RotaryLayout::halves);
       c.norm = {NormConfig::Kind::rms, 1e-6F, false};
       c.mlp = {true, ops::Activation::silu, 20, false, false};
       c.head.tied = false;
     }}};

}  // namespace

TEST_CASE("logits equal those of the naive model, whatever the config", "[model]") {
  for (const auto& variant : variants) {
    CAPTURE(variant.what);
    auto config = tiny_config();
    variant.change(config);
    const auto files = tiny_native(config, 6);
    const auto model = loaded(files);
    const auto ids = random_ids(config, 19);
    Session session(model, 1);
    const auto logits = copied(session.forward(ids, Rows::all));
    CHECK(largest_difference(logits, naive_logits(config, files, ids)) < tolerance);
  }
}

TEST_CASE("a text longer than one tile of queries equals the naive model", "[model]") {
  auto config = tiny_config();
  config.n_ctx = 300;
  make_rotary(config, 4, ops::RotaryLayout::halves);
  config.attention.n_kv_heads = 1;
  config.n_layers = 1;
  REQUIRE(query_tile < 133);
  const auto files = tiny_native(config, 7);
  const auto model = loaded(files);
  for (const auto length : {query_tile - 1, query_tile, query_tile + 1, query_tile + 5, 2 * query_tile + 3}) {
    CAPTURE(length);
    const auto ids = random_ids(config, length);
    Session session(model, 1);
    const auto logits = copied(session.forward(ids, Rows::all));
    CHECK(largest_difference(logits, naive_logits(config, files, ids)) < tolerance);
  }
}

TEST_CASE("many queries of a wide model equal the naive model, at once and in pieces", "[model]") {
  auto config = tiny_config();
  config.d_model = 256;
  config.n_layers = 1;
  config.n_ctx = 600;
  make_rotary(config, 64, ops::RotaryLayout::halves);
  config.attention.n_heads = 4;
  config.attention.n_kv_heads = 2;
  config.attention.head_dim = 64;
  config.attention.scale = 0.125;
  REQUIRE_FALSE(is_narrow(config));
  const auto files = tiny_native(config, 9);
  const auto model = loaded(files);
  // More keys than one product in place may have, and tiles of which the last is not full.
  const std::vector<std::vector<std::size_t>> texts{{query_tile}, {97}, {577}, {70, 1, 506}};
  for (const auto& pieces : texts) {
    const auto length = std::accumulate(pieces.begin(), pieces.end(), std::size_t{0});
    CAPTURE(length, pieces.size());
    const auto ids = random_ids(config, static_cast<std::int64_t>(length));
    const auto expected = naive_logits(config, files, ids);
    double largest = 1.0;
    for (const auto logit : expected) largest = std::max(largest, std::abs(static_cast<double>(logit)));
    for (const int threads : {1, 2}) {
      Session session(model, threads);
      std::vector<float> logits;
      for (const auto size : pieces) {
        const auto more = copied(
            session.forward(std::span(ids).subspan(static_cast<std::size_t>(session.length()), size), Rows::all));
        logits.insert(logits.end(), more.begin(), more.end());
      }
      CHECK(largest_difference(logits, expected) < tolerance * largest);
    }
  }
}

TEST_CASE("one and two threads agree, on matrices large enough to share", "[model]") {
  auto config = tiny_config();
  config.d_model = 256;
  config.attention.head_dim = 64;
  config.attention.scale = 0.125;
  config.mlp.d_ff = 1024;
  config.n_ctx = 80;
  const auto model = loaded(tiny_native(config, 8));
  const auto ids = random_ids(config, 70);
  Session one(model, 1);
  CHECK(one.threads() == 1);
  const auto logits = copied(one.forward(ids, Rows::all));
  Session two(model, 2);
  CHECK(two.threads() == 2);
  const auto others = copied(two.forward(ids, Rows::all));
  double largest = 1.0;
  for (const auto logit : logits) largest = std::max(largest, std::abs(static_cast<double>(logit)));
  CHECK(largest_difference(logits, others) < 1e-5 * largest);
  Session again(model, 1);
  CHECK(copied(again.forward(ids, Rows::all)) == logits);
}

}  // namespace qkv::test
