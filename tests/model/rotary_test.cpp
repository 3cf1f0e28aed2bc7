// Rotary positions that are stretched: rates against values worked out elsewhere, tables that differ for long texts,
// and a session whose text becomes long while it runs.

#include <cmath>
#include <filesystem>
#include <vector>

#include "qkv/model/rotary_tables.hpp"
#include "qkv/model/session.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"

namespace qkv::test {
namespace {

RotaryConfig yarn() {
  RotaryConfig rotary;
  rotary.n_rotated = 16;
  rotary.theta = 1000.0;
  rotary.scaling.kind = RotaryScaling::Kind::yarn;
  rotary.scaling.factor = 4.0;
  rotary.scaling.original_n_ctx = 256.0;
  return rotary;
}

RotaryConfig longrope() {
  RotaryConfig rotary;
  rotary.n_rotated = 4;
  rotary.theta = 100.0;
  rotary.scaling.kind = RotaryScaling::Kind::longrope;
  rotary.scaling.original_n_ctx = 8.0;
  rotary.scaling.short_factors = {1.0, 2.0};
  rotary.scaling.long_factors = {4.0, 5.0};
  rotary.scaling.magnitude = 1.5;
  return rotary;
}

void check_rates(const std::vector<double>& rates, const std::vector<double>& expected) {
  REQUIRE(rates.size() == expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i) CHECK(rates[i] == Approx(expected[i]).epsilon(1e-12));
}

/// What a table makes of the pair (1, 0) at a position: the cosine and the sine of its angle.
std::vector<float> turned(const ops::RotaryTable* table, std::int64_t position) {
  REQUIRE(table != nullptr);
  std::vector<float> pair{1.0F, 1.0F, 0.0F, 0.0F};  // halves: numbers 0 and 2, 1 and 3
  table->rotate({pair.data(), 1, 4, 4}, 4, position);
  return pair;
}

void check_angles(const ops::RotaryTable* table, std::int64_t position, const std::vector<double>& rates,
                  double magnitude) {
  const auto pair = turned(table, position);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto angle = static_cast<double>(position) * rates[i];
    CHECK(pair[i] == Approx(magnitude * std::cos(angle)).margin(1e-6));
    CHECK(pair[i + 2] == Approx(magnitude * std::sin(angle)).margin(1e-6));
  }
}

Model crossing_model() { return Model::load(std::filesystem::path(QKV_TEST_DATA) / "models" / "phi3-longrope"); }

std::span<const TokenId> part(const std::vector<TokenId>& ids, std::size_t from, std::size_t count) {
  return std::span(ids).subspan(from, count);
}

}  // namespace

// By tests/data/make_llama_like.py. Pairs 0.28 and 4.29 make 32 turns and 1 turn within 256 positions; cut to whole
// pairs, rates are kept up to pair 0, divided by 4 from pair 5 on, and every pair between moves on by a fifth.
TEST_CASE("yarn keeps fast rates, divides slow ones, and ramps between whole pairs", "[model]") {
  check_rates(rotary_rates(yarn()),
              {1.0, 0.3584420279142949, 0.1244795587027246, 0.04124418151328507, 0.012649110640673516,
               0.0033338035804083097, 0.0014058533129758727, 0.0005928434264154137});
}

// The same with 8 turns (pair 1.885) and 2 turns (pair 3.491) as they are.
TEST_CASE("yarn may ramp between parts of pairs", "[model]") {
  auto rotary = yarn();
  rotary.scaling.beta_fast = 8.0;
  rotary.scaling.beta_slow = 2.0;
  rotary.scaling.truncate = false;
  check_rates(rotary_rates(rotary),
              {1.0, 0.4216965034285822, 0.16829577204564514, 0.035938720207878735, 0.007905694150420948,
               0.0033338035804083097, 0.0014058533129758727, 0.0005928434264154137});
}

TEST_CASE("longrope divides each rate by a factor of its own, another one in long texts", "[model]") {
  check_rates(rotary_rates(longrope(), false), {1.0, 0.1 / 2.0});
  check_rates(rotary_rates(longrope(), true), {0.25, 0.1 / 5.0});
}

TEST_CASE("tables for long texts are taken from the first token beyond the original context on", "[model]") {
  PositionConfig position;
  position.kind = PositionConfig::Kind::rotary;
  position.rotary = longrope();
  RotaryTables tables(position);
  tables.extend(8);
  CHECK(!tables.is_long(8));
  CHECK(tables.is_long(9));
  check_angles(tables.find(0, false), 7, {1.0, 0.05}, 1.5);
  tables.extend(12);
  check_angles(tables.find(0, false), 11, {1.0, 0.05}, 1.5);
  check_angles(tables.find(0, true), 3, {0.25, 0.02}, 1.5);
  check_angles(tables.find(0, true), 11, {0.25, 0.02}, 1.5);
  CHECK(tables.find(-1, true) == nullptr);
}

TEST_CASE("layers that are not stretched keep their angles in long texts", "[model]") {
  PositionConfig position;
  position.kind = PositionConfig::Kind::rotary;
  position.rotary = longrope();
  position.second_rotary = RotaryConfig{100.0, 4, {}, {}};
  RotaryTables tables(position);
  tables.extend(16);
  CHECK(tables.find(1, true) == tables.find(1, false));
  check_angles(tables.find(1, true), 13, {1.0, 0.1}, 1.0);
  position.second_rotary = std::nullopt;
  position.rotary = RotaryConfig{100.0, 4, {}, {}};
  CHECK(!RotaryTables(position).is_long(std::int64_t{1} << 40));
}

TEST_CASE("a text that grows beyond the original context gives the logits of all at once", "[model]") {
  const auto model = crossing_model();  // its original context is 16
  const auto ids = random_ids(model.config(), 24);
  Session whole(model);
  const auto expected = copied(whole.forward(ids, Rows::all));
  for (const std::size_t cut : {1, 10, 15, 16, 17, 23}) {
    CAPTURE(cut);
    Session session(model);
    (void)session.forward(part(ids, 0, cut));
    const auto rest = copied(session.forward(part(ids, cut, ids.size() - cut), Rows::all));
    CHECK(session.length() == 24);
    const auto skipped = static_cast<std::ptrdiff_t>(cut) * model.config().n_vocab;
    CHECK(largest_difference(rest, {expected.begin() + skipped, expected.end()}) < 1e-5);
  }
}

TEST_CASE("a text that is cut back below the original context is a short one again", "[model]") {
  const auto model = crossing_model();
  const auto ids = random_ids(model.config(), 24);
  Session fresh(model);
  const auto expected = copied(fresh.forward(part(ids, 0, 12)));
  Session session(model);
  (void)session.forward(ids);
  session.rewind(10);
  CHECK(largest_difference(copied(session.forward(part(ids, 10, 2))), expected) < 1e-5);
  CHECK(session.length() == 12);
  (void)session.forward(part(ids, 12, 12));
  session.rewind(11);
  CHECK(largest_difference(copied(session.forward(part(ids, 11, 1))), expected) < 1e-5);
}

}  // namespace qkv::test
