// Looking inside: nothing changes by it, and what is shown is what the pass computed.

#include "qkv/model/observer.hpp"

#include <cmath>
#include <vector>

#include "qkv/model/choices.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"

namespace qkv::test {
namespace {

struct Seen {
  Place place;
  std::int64_t layer;
  std::int64_t head;
  std::int64_t first;
  std::int64_t rows;
  std::int64_t cols;
  std::vector<float> values;
};

/// Keeps everything it is shown.
class Witness : public Observer {
 public:
  explicit Witness(Places wanted = all_places) : wanted_(wanted) {}
  [[nodiscard]] Places wanted() const override { return wanted_; }
  void observe(const Observation& o) override {
    seen_.push_back({o.place, o.layer, o.head, o.first, o.values.rows, o.values.cols, copied(o.values)});
  }
  [[nodiscard]] const std::vector<Seen>& seen() const { return seen_; }
  [[nodiscard]] std::vector<Seen> at(Place place) const {
    std::vector<Seen> found;
    for (const auto& one : seen_)
      if (one.place == place) found.push_back(one);
    return found;
  }

 private:
  Places wanted_;
  std::vector<Seen> seen_;
};

Config grouped_config() {
  auto config = tiny_config();
  config.n_ctx = 200;
  config.position.kind = PositionConfig::Kind::rotary;
  config.position.rotary.n_rotated = 2;
  config.attention.n_kv_heads = 1;
  config.embedding_scale = 2.0;
  config.residual_scale = 0.4;
  return config;
}

/// Each row of a table of weights: the visible part sums to one, the rest is exactly 0.
void check_table(const Seen& table) {
  for (std::int64_t r = 0; r < table.rows; ++r) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < table.cols; ++c) {
      const auto weight = table.values[static_cast<std::size_t>(r * table.cols + c)];
      if (c > table.first + r) REQUIRE(weight == 0.0F);
      REQUIRE(weight >= 0.0F);
      sum += static_cast<double>(weight);
    }
    REQUIRE(std::abs(sum - 1.0) < 1e-6);
  }
}

}  // namespace

TEST_CASE("logits with and without an observer are the same bits", "[model]") {
  const auto config = grouped_config();
  const auto model = loaded(tiny_native(config));
  const auto ids = random_ids(config, 150);
  for (const auto rows : {Rows::all, Rows::last}) {
    Session plain(model);
    Session observed(model);
    Witness witness;
    CHECK(copied(plain.forward(ids, rows)) == copied(observed.forward(ids, rows, &witness)));
    CHECK_FALSE(witness.seen().empty());
    const std::vector<TokenId> more{3, 5};
    CHECK(copied(plain.forward(more, rows)) == copied(observed.forward(more, rows, &witness)));
  }
}

TEST_CASE("an observer sees the places it wants and no other", "[model]") {
  const auto config = grouped_config();
  const auto model = loaded(tiny_native(config));
  const auto ids = random_ids(config, 6);
  Session session(model);
  for (unsigned bit = 0; (all_places >> bit) != 0; ++bit) {
    const auto place = static_cast<Place>(1U << bit);
    CAPTURE(name_of(place));
    Witness witness(1U << bit);
    session.rewind(0);
    (void)session.forward(ids, Rows::all, &witness);
    CHECK_FALSE(witness.seen().empty());
    for (const auto& one : witness.seen()) CHECK(one.place == place);
  }
  Witness none(0);
  session.rewind(0);
  (void)session.forward(ids, Rows::all, &none);
  CHECK(none.seen().empty());
}

TEST_CASE("every place is shown for each layer and head, with its shape and position", "[model]") {
  const auto config = grouped_config();
  const auto model = loaded(tiny_native(config));
  const auto ids = random_ids(config, 9);
  Session session(model);
  (void)session.forward(std::span(ids).first(4));
  Witness witness;
  (void)session.forward(std::span(ids).subspan(4), Rows::last, &witness);
  const auto check = [&](Place place, std::size_t times, std::int64_t rows, std::int64_t cols, std::int64_t first = 4) {
    CAPTURE(name_of(place));
    const auto found = witness.at(place);
    REQUIRE(found.size() == times);
    for (std::size_t i = 0; i < times; ++i) {
      CHECK(found[i].rows == rows);
      CHECK(found[i].cols == cols);
      CHECK(found[i].first == first);
    }
  };
  const auto layers = static_cast<std::size_t>(config.n_layers);
  check(Place::embedding, 1, 5, config.d_model);
  check(Place::q, layers, 5, 12);
  check(Place::k, layers, 5, 4);
  check(Place::v, layers, 5, 4);
  check(Place::scores, layers * 3, 5, 9);
  check(Place::weights, layers * 3, 5, 9);
  check(Place::head_out, layers, 5, 12);
  check(Place::attn_out, layers, 5, config.d_model);
  check(Place::mlp_out, layers, 5, config.d_model);
  check(Place::residual, layers + 1, 5, config.d_model);
  check(Place::attn_in, layers, 5, config.d_model);
  check(Place::residual_mid, layers, 5, config.d_model);
  check(Place::mlp_in, layers, 5, config.d_model);
  check(Place::final_norm, 1, 1, config.d_model, 8);
  check(Place::logits, 1, 1, config.n_vocab, 8);
  const auto weights = witness.at(Place::weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CHECK(weights[i].layer == static_cast<std::int64_t>(i / 3));
    CHECK(weights[i].head == static_cast<std::int64_t>(i % 3));
  }
  CHECK(witness.at(Place::logits)[0].layer == -1);
  CHECK(witness.at(Place::residual)[2].layer == 2);
  CHECK(witness.at(Place::q)[1].layer == 1);
}

TEST_CASE("weights sum to one over what a query may see, and are exactly 0 elsewhere", "[model]") {
  const auto config = grouped_config();
  const auto model = loaded(tiny_native(config));
  Session session(model);
  Witness witness(static_cast<Places>(Place::weights));
  (void)session.forward(random_ids(config, 140), Rows::last, &witness);
  (void)session.forward(random_ids(config, 3), Rows::last, &witness);
  std::int64_t rows = 0;
  for (const auto& table : witness.at(Place::weights)) {
    check_table(table);
    rows += table.rows;
  }
  CHECK(rows == 143 * 3 * config.n_layers);
}

TEST_CASE("the residual stream is the sum of what the blocks add", "[model]") {
  const auto config = grouped_config();
  const auto model = loaded(tiny_native(config));
  Session session(model);
  Witness witness;
  (void)session.forward(random_ids(config, 7), Rows::all, &witness);
  const auto residual = witness.at(Place::residual);
  CHECK(witness.at(Place::embedding)[0].values == residual[0].values);  // no positions are added here
  for (std::size_t layer = 0; layer < 2; ++layer) {
    auto sum = residual[layer].values;
    for (const auto place : {Place::attn_out, Place::mlp_out})
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += witness.at(place)[layer].values[i];
    CHECK(largest_difference(sum, residual[layer + 1].values) < 1e-6);
  }
}

TEST_CASE("scores are q k scaled, weights their softmax, head_out the weighted values", "[model]") {
  const auto config = grouped_config();
  const auto model = loaded(tiny_native(config));
  Session session(model);
  Witness witness;
  (void)session.forward(random_ids(config, 6), Rows::all, &witness);
  for (std::size_t layer = 0; layer < 2; ++layer)
    for (std::size_t head = 0; head < 3; ++head) {
      const auto q = witness.at(Place::q)[layer].values;
      const auto k = witness.at(Place::k)[layer].values;
      const auto v = witness.at(Place::v)[layer].values;
      const auto scores = witness.at(Place::scores)[layer * 3 + head].values;
      const auto weights = witness.at(Place::weights)[layer * 3 + head].values;
      const auto out = witness.at(Place::head_out)[layer].values;
      for (std::size_t t = 0; t < 6; ++t) {
        double sum = 0.0;
        std::vector<double> blend(4, 0.0);
        for (std::size_t s = 0; s <= t; ++s) {
          double dot = 0.0;
          for (std::size_t i = 0; i < 4; ++i)
            dot += static_cast<double>(q[t * 12 + head * 4 + i]) * static_cast<double>(k[s * 4 + i]);
          CHECK(static_cast<double>(scores[t * 6 + s]) == Approx(config.attention.scale * dot).margin(1e-5));
          sum += std::exp(static_cast<double>(scores[t * 6 + s]));
          for (std::size_t i = 0; i < 4; ++i)
            blend[i] += static_cast<double>(weights[t * 6 + s]) * static_cast<double>(v[s * 4 + i]);
        }
        for (std::size_t s = 0; s <= t; ++s)
          CHECK(static_cast<double>(weights[t * 6 + s]) ==
                Approx(std::exp(static_cast<double>(scores[t * 6 + s])) / sum).margin(1e-6));
        for (std::size_t i = 0; i < 4; ++i)
          CHECK(static_cast<double>(out[t * 12 + head * 4 + i]) == Approx(blend[i]).margin(1e-5));
      }
    }
}

}  // namespace qkv::test
