#include "qkv/model/config.hpp"

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

RotaryConfig rotary_of(std::int64_t n_rotated, double theta) {
  RotaryConfig rotary;
  rotary.n_rotated = n_rotated;
  rotary.theta = theta;
  return rotary;
}

void check_rates(const RotaryConfig& rotary, const std::vector<double>& expected) {
  const auto rates = rotary_rates(rotary);
  REQUIRE(rates.size() == expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i) CHECK(rates[i] == Approx(expected[i]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("rates without scaling are powers of theta", "[model]") {
  check_rates(rotary_of(8, 10000.0), {1.0, 0.1, 0.01, 0.001});
  check_rates(rotary_of(2, 10000.0), {1.0});
  check_rates(rotary_of(4, 256.0), {1.0, 1.0 / 16.0});
}

TEST_CASE("linear scaling divides every rate", "[model]") {
  auto rotary = rotary_of(8, 10000.0);
  rotary.scaling.kind = RotaryScaling::Kind::linear;
  rotary.scaling.factor = 4.0;
  check_rates(rotary, {0.25, 0.025, 0.0025, 0.00025});
}

TEST_CASE("llama3 scaling keeps short waves, stretches long ones, and blends between", "[model]") {
  auto rotary = rotary_of(8, 10000.0);
  rotary.scaling.kind = RotaryScaling::Kind::llama3;
  rotary.scaling.factor = 8.0;
  rotary.scaling.low_frequency_factor = 1.0;
  rotary.scaling.high_frequency_factor = 4.0;
  rotary.scaling.original_n_ctx = 1024.0;
  // Waves: 6.28, 62.8, 628.3, 6283. Below 1024 / 4 kept, above 1024 / 1 divided by 8, the third lies between:
  // share kept (1024 / 628.3185307179587 - 1) / (4 - 1) = 0.209915539, rate 0.01 (0.790084461 / 8 + 0.209915539).
  check_rates(rotary, {1.0, 0.1, 0.003086760967011274, 0.000125});
}

TEST_CASE("a config that no single key shows to be wrong is refused", "[model]") {
  const auto refuse = [](auto damage, const std::vector<std::string>& parts) {
    auto config = tiny_config();
    config.position.kind = PositionConfig::Kind::rotary;
    config.position.rotary.n_rotated = 4;
    CHECK_NOTHROW(check_config(config, "here"));
    damage(config);
    auto all = parts;
    all.emplace_back("here: ");
    check_refused(
        ErrorCode::model, [&] { check_config(config, "here"); }, all);
  };
  refuse([](Config& c) { c.attention.n_kv_heads = 2; }, {"3 heads for 2 key/value heads"});
  refuse([](Config& c) { c.attention.n_kv_heads = 6; }, {"3 heads for 6 key/value heads"});
  refuse([](Config& c) { c.position.rotary.n_rotated = 3; }, {"even number", "head_dim 4", "found 3"});
  refuse([](Config& c) { c.position.rotary.n_rotated = 6; }, {"head_dim 4", "found 6"});
  refuse([](Config& c) { c.position.rotary.n_rotated = 0; }, {"found 0"});
  refuse([](Config& c) { c.attention.head_dim = std::int64_t{1} << 30; }, {"widths below", "1073741824"});
}

TEST_CASE("the scale is divided by the layer only where the config says so", "[model]") {
  AttentionConfig attention;
  attention.scale = 0.5;
  CHECK(attention.scale_of(0) == 0.5F);
  CHECK(attention.scale_of(3) == 0.5F);
  attention.scale_divided_by_layer = true;
  CHECK(attention.scale_of(0) == 0.5F);
  CHECK(attention.scale_of(3) == 0.125F);
}

TEST_CASE("parameters are counted as the files hold them", "[model]") {
  auto config = tiny_config();
  const auto stored = [](const Config& c) {
    std::int64_t count = 0;
    for (const auto& tensor : tiny_native(c).tensors) count += element_count(tensor.shape).value();
    return count;
  };
  CHECK(config.parameter_count() == stored(config));
  config.head = {false, true};
  config.mlp = {true, ops::Activation::silu, 9, true, false};
  config.norm = {NormConfig::Kind::rms, 1e-6F, false};
  config.attention.n_heads = 4;
  config.attention.n_kv_heads = 2;
  config.attention.bias_k = false;
  config.position.kind = PositionConfig::Kind::none;
  CHECK(config.parameter_count() == stored(config));
}

}  // namespace qkv::test
