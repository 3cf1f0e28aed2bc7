// What changes while a model runs: pieces against all at once, rewinding, growing, refusing.

#include "qkv/model/session.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "qkv/ops/backends/blas.hpp"
#include "qkv/ops/parallel.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

constexpr double tolerance = 1e-5;

Config rotary_config() {
  auto config = tiny_config();
  config.position.kind = PositionConfig::Kind::rotary;
  config.position.rotary.n_rotated = 4;
  config.attention.n_kv_heads = 1;
  return config;
}

std::vector<Config> configs() {
  auto unplaced = tiny_config();
  unplaced.position.kind = PositionConfig::Kind::none;
  return {tiny_config(), rotary_config(), unplaced};
}

std::span<const TokenId> part(const std::vector<TokenId>& ids, std::size_t from, std::size_t count) {
  return std::span(ids).subspan(from, count);
}

/// Runs the ids in pieces of these sizes and puts the logits of all rows together.
std::vector<float> in_pieces(Session& session, const std::vector<TokenId>& ids, const std::vector<std::size_t>& sizes) {
  std::vector<float> logits;
  std::size_t from = 0;
  for (const auto size : sizes) {
    const auto more = copied(session.forward(part(ids, from, size), Rows::all));
    logits.insert(logits.end(), more.begin(), more.end());
    from += size;
  }
  CHECK(from == ids.size());
  return logits;
}

std::vector<float> last_row(const std::vector<float>& logits, const Config& config) {
  return {logits.end() - config.n_vocab, logits.end()};
}

/// Looks at the stream, so that every row of every block is computed.
class Sight : public Observer {
 public:
  [[nodiscard]] Places wanted() const override { return static_cast<Places>(Place::residual); }
  void observe(const Observation&) override {}
};

/// Wide enough for several threads.
Config eight_heads(std::int64_t head_dim) {
  auto config = tiny_config();
  config.d_model = 8 * head_dim;
  config.attention.n_heads = config.attention.n_kv_heads = 8;
  config.attention.head_dim = head_dim;
  config.n_ctx = 200;
  return config;
}

}  // namespace

TEST_CASE("keys and values kept give the logits of all at once", "[model]") {
  for (const auto& config : configs()) {
    const auto model = loaded(tiny_native(config));
    const auto ids = random_ids(config, 20);
    Session whole(model);
    const auto expected = copied(whole.forward(ids, Rows::all));
    CHECK(whole.length() == 20);
    const std::vector<std::vector<std::size_t>> cuts{{1, 19}, {19, 1}, {7, 1, 12}, std::vector<std::size_t>(20, 1)};
    for (const auto& sizes : cuts) {
      Session session(model);
      CHECK(largest_difference(in_pieces(session, ids, sizes), expected) < tolerance);
      CHECK(session.length() == 20);
    }
  }
}

TEST_CASE("the last row alone is the last of all rows", "[model]") {
  for (const auto& config : configs()) {
    const auto model = loaded(tiny_native(config));
    const auto ids = random_ids(config, 9);
    Session all(model);
    Session last(model);
    const auto logits = copied(all.forward(ids, Rows::all));
    const auto view = last.forward(ids, Rows::last);
    CHECK(view.rows == 1);
    CHECK(view.cols == config.n_vocab);
    CHECK(largest_difference(copied(view), last_row(logits, config)) < tolerance);
  }
}

TEST_CASE("leaving out of the last block what nobody needs changes no bit", "[model]") {
  auto wide = tiny_config();
  wide.d_model = 256;
  wide.attention.head_dim = 64;
  wide.mlp.d_ff = 700;
  auto narrow = configs().back();
  for (auto config : {wide, narrow}) {
    config.n_ctx = 320;
    const auto files = tiny_native(config, 5);
    for (const auto& backend : ops::linear_backends())
      for (const auto precision : backend.precisions) {
        CAPTURE(config.d_model, backend.name, ops::name_of(precision));
        const auto model = loaded(files, backend.name, precision);
        for (const std::int64_t count : {1, 2, 15, 16, 17, 18, 33, 128, 129, 130, 300}) {
          CAPTURE(count);
          const auto ids = random_ids(config, count + 3);
          const auto text = std::span(ids).first(static_cast<std::size_t>(count));
          const auto more = std::span(ids).last(3);  // sees whether the keys and values are the same too
          Session whole(model, 2);
          Session short_cut(model, 2);
          Sight sight;
          CHECK(copied(whole.forward(text, Rows::last, &sight)) == copied(short_cut.forward(text)));
          CHECK(copied(whole.forward(more, Rows::last, &sight)) == copied(short_cut.forward(more)));
        }
      }
  }
}

TEST_CASE("a token after kept ones comes out the same with one thread and with two", "[model]") {
  const auto config = eight_heads(64);
  const auto files = tiny_native(config, 6);
  for (const auto& backend : ops::linear_backends()) {
    if (!backend.packs) continue;  // BLAS promises nothing for its own products
    CAPTURE(backend.name);
    const auto model = loaded(files, backend.name, ops::Precision::f32);
    if (!model.rows_stand_alone()) continue;
    const auto ids = random_ids(config, 190);
    Session one(model, 1);
    (void)one.forward(std::span(ids).first(120));
    Session two(model, 2);
    (void)two.forward(std::span(ids).first(120));
    for (std::size_t at = 120; at < ids.size(); ++at) {
      CAPTURE(at);
      CHECK(copied(one.forward({&ids[at], 1})) == copied(two.forward({&ids[at], 1})));
    }
  }
  ops::blas::set_threads(1);
}

TEST_CASE("a session runs on whatever thread calls it, with as many as it was made for", "[model]") {
  const auto config = eight_heads(32);
  for (const auto& backend : ops::linear_backends()) {
    const auto model = loaded(tiny_native(config, 7), backend.name, ops::Precision::f32);
    const auto ids = random_ids(config, 200);
    Session session(model, 1);
    const auto expected = copied(session.forward(ids));
    session.rewind(0);
    std::vector<float> found;
    int workers = 0;
    std::thread([&] {
      found = copied(session.forward(ids));
      workers = ops::worker_count();
    }).join();
    CHECK(found == expected);
    CHECK(workers == 1);
  }
}

TEST_CASE("more threads than there can be are refused", "[model]") {
  const auto model = loaded(tiny_native());
  check_refused(ErrorCode::usage, [&] { const Session session(model, 100000); }, {"threads", "100000"});
  ops::blas::set_threads(1);
}

TEST_CASE("after rewinding the session goes on as if the rest had never been", "[model]") {
  for (const auto& config : configs()) {
    const auto model = loaded(tiny_native(config));
    const auto ids = random_ids(config, 16, 1);
    const auto others = random_ids(config, 16, 2);
    Session fresh(model);
    const auto expected = copied(fresh.forward(ids, Rows::all));
    Session session(model);
    (void)session.forward(others);
    session.rewind(0);
    CHECK(session.length() == 0);
    CHECK(copied(session.forward(ids, Rows::all)) == expected);

    session.rewind(6);
    CHECK(session.length() == 6);
    (void)session.forward(part(others, 0, 10));
    session.rewind(6);
    const auto tail = copied(session.forward(part(ids, 6, 10), Rows::all));
    CHECK(largest_difference(last_row(tail, config), last_row(expected, config)) < tolerance);
  }
}

TEST_CASE("a rewind to where the session stands, or beyond, forgets nothing", "[model]") {
  const auto config = tiny_config();
  const auto model = loaded(tiny_native());
  Session session(model);
  (void)session.forward(random_ids(config, 5));
  session.rewind(5);
  CHECK(session.length() == 5);
  session.rewind(99);
  CHECK(session.length() == 5);
}

TEST_CASE("room that grows on the way changes nothing", "[model]") {
  for (const auto& config : configs()) {
    const auto model = loaded(tiny_native(config));
    const auto ids = random_ids(config, 23);
    const std::vector<std::size_t> sizes{1, 1, 2, 1, 5, 1, 12};
    Session grown(model);
    Session reserved(model);
    reserved.reserve(config.n_ctx);
    CHECK(in_pieces(grown, ids, sizes) == in_pieces(reserved, ids, sizes));
    Session little(model);
    little.reserve(3);
    little.reserve(2);
    reserved.rewind(0);
    CHECK(in_pieces(little, ids, sizes) == in_pieces(reserved, ids, sizes));
  }
}

TEST_CASE("what is refused leaves the session as it was", "[model]") {
  const auto config = tiny_config();
  const auto model = loaded(tiny_native());
  const auto ids = random_ids(config, 8);
  const auto refuse = [](Session& session, const std::vector<TokenId>& wrong, const std::vector<std::string>& parts) {
    check_refused(
        ErrorCode::input, [&] { (void)session.forward(wrong); }, parts);
  };
  Session expected(model);
  Session session(model);
  (void)expected.forward(part(ids, 0, 5));
  (void)session.forward(part(ids, 0, 5));
  refuse(session, {}, {"at least one token", "found none"});
  refuse(session, {3, 17}, {"from 0 to 16", "found 17"});
  refuse(session, {-1}, {"from 0 to 16", "found -1"});
  refuse(session, {2147483647}, {"found 2147483647"});
  refuse(session, std::vector<TokenId>(20, 1), {"at most 24 tokens", "found 25"});
  CHECK(session.length() == 5);
  CHECK(copied(session.forward(part(ids, 5, 3), Rows::all)) == copied(expected.forward(part(ids, 5, 3), Rows::all)));
}

TEST_CASE("the context can be filled to its last place and no further", "[model]") {
  for (const auto& config : configs()) {
    const auto model = loaded(tiny_native(config));
    Session session(model);
    (void)session.forward(random_ids(config, config.n_ctx));
    CHECK(session.length() == config.n_ctx);
    check_refused(ErrorCode::input, [&] { (void)session.forward(std::vector<TokenId>{0}); },
                  {"at most 24", "found 25"});
    session.rewind(config.n_ctx - 1);
    CHECK_NOTHROW(session.forward(std::vector<TokenId>{0}));
  }
}

TEST_CASE("two sessions of one model do not disturb each other", "[model]") {
  const auto config = rotary_config();
  const auto model = loaded(tiny_native(config));
  const auto ids = random_ids(config, 10, 1);
  const auto others = random_ids(config, 10, 2);
  Session alone(model);
  const auto expected = in_pieces(alone, ids, {4, 6});
  Session one(model);
  Session two(model);
  (void)one.forward(part(ids, 0, 4));
  (void)two.forward(others);
  CHECK(copied(one.forward(part(ids, 4, 6), Rows::all)) ==
        std::vector<float>(expected.begin() + 4 * config.n_vocab, expected.end()));
}

TEST_CASE("without positions the order of earlier tokens does not matter to one layer, with them it does", "[model]") {
  for (const auto kind : {PositionConfig::Kind::none, PositionConfig::Kind::learned, PositionConfig::Kind::rotary}) {
    auto config = rotary_config();
    config.position.kind = kind;
    config.n_layers = 1;
    const auto model = loaded(tiny_native(config));
    auto ids = random_ids(config, 12);
    Session session(model);
    const auto before = copied(session.forward(ids));
    std::reverse(ids.begin(), ids.end() - 1);
    session.rewind(0);
    const auto moved = largest_difference(copied(session.forward(ids)), before);
    CAPTURE(static_cast<int>(kind), moved);
    CHECK((kind == PositionConfig::Kind::none ? moved < tolerance : moved > 1e-3));
  }
}

TEST_CASE("later tokens have no influence on earlier rows", "[model]") {
  for (const auto& config : configs()) {
    const auto model = loaded(tiny_native(config));
    auto ids = random_ids(config, 12, 1);
    Session session(model);
    const auto before = copied(session.forward(ids, Rows::all));
    const auto others = random_ids(config, 5, 2);
    std::copy(others.begin(), others.end(), ids.begin() + 7);
    session.rewind(0);
    const auto after = copied(session.forward(ids, Rows::all));
    const auto early = 7 * config.n_vocab;
    CHECK(std::equal(before.begin(), before.begin() + early, after.begin()));
    CHECK(before != after);
  }
}

TEST_CASE("a head that is left out is a head whose part of W_o is zero", "[model]") {
  const auto config = tiny_config();
  const auto whole = tiny_native();
  auto without = whole;
  auto numbers = without.numbers("blocks.1.attn.W_o");  // [12, 3 heads of 4]
  for (std::size_t row = 0; row < 12; ++row)
    for (std::size_t i = 8; i < 12; ++i) numbers[row * 12 + i] = 0.0F;
  without.tensor("blocks.1.attn.W_o").bytes = bytes_of(numbers);
  const auto model = loaded(whole);
  const auto other = loaded(without);
  const auto ids = random_ids(config, 9);
  Session ablated(model);
  ablated.ablate(std::vector<HeadId>{{1, 2}});
  Session expected(other);
  const auto logits = copied(ablated.forward(ids, Rows::all));
  CHECK(largest_difference(logits, copied(expected.forward(ids, Rows::all))) < tolerance);
  Session untouched(model);
  CHECK(largest_difference(logits, copied(untouched.forward(ids, Rows::all))) > 1e-3);
  for (const auto& wrong : {HeadId{2, 0}, HeadId{-1, 0}, HeadId{0, 3}, HeadId{0, -1}})
    check_refused(ErrorCode::usage, [&] { ablated.ablate(std::vector<HeadId>{wrong}); },
                  {"layers 0 to 1", "heads 0 to 2"});
}

}  // namespace qkv::test
