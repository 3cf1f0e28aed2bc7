// Scores of a text against numpy's computation (scripts/check_score.py), and against the plain definition.

#include "qkv/inspect/score.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

ScoreOptions options_for(std::int64_t window, std::int64_t stride, std::int64_t top = 0) {
  return {{window, stride}, top, nullptr};
}

std::vector<TokenScore> scores_of(Session& session, const std::vector<TokenId>& ids, const ScoreOptions& options) {
  std::vector<TokenScore> scores;
  const auto totals = score_text(session, ids, options, [&](const TokenScore& score) { scores.push_back(score); });
  CHECK(totals.complete);
  CHECK(totals.tokens == static_cast<std::int64_t>(ids.size()));
  CHECK(totals.scored == totals.tokens - 1);
  double sum = 0.0;
  for (const auto& score : scores) sum += score.logprob.value_or(0.0);
  CHECK(totals.logprob == Approx(sum));
  CHECK(totals.perplexity() == Approx(std::exp(-sum / static_cast<double>(totals.scored))));
  return scores;
}

/// The score of one token by the definition: the first window that holds it, run from its start.
TokenScore defined_score(Session& session, const std::vector<TokenId>& ids, std::int64_t position, std::int64_t window,
                         std::int64_t stride) {
  std::int64_t begin = 0;
  while (position >= begin + window) begin += stride;
  session.rewind(0);
  const auto context =
      std::span(ids).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(position - begin));
  const auto logits = session.forward(context).row(0);
  const auto id = ids[static_cast<std::size_t>(position)];
  const auto all = top_logprobs(logits, static_cast<std::int64_t>(logits.size()));
  const auto found = std::find_if(all.begin(), all.end(), [&](const TokenLogprob& one) { return one.id == id; });
  return {position, id, logprob_of(logits, id), found - all.begin() + 1, position - begin, {}};
}

}  // namespace

TEST_CASE("scores equal numpy's for windows of several sizes", "[inspect]") {
  std::ifstream file(std::string(QKV_TEST_DATA) + "/score.json");
  const auto golden = nlohmann::json::parse(file);
  const auto model = Model::load(std::filesystem::path(QKV_TEST_DATA) / "real" / "stories260K-hf");
  const auto ids = golden["ids"].get<std::vector<TokenId>>();
  Session session(model);
  REQUIRE(golden["runs"].size() == 4);
  for (const auto& run : golden["runs"]) {
    const auto scores = scores_of(session, ids, options_for(run["window"], run["stride"]));
    const auto expected = run["logprobs"].get<std::vector<double>>();
    REQUIRE(scores.size() == expected.size() + 1);
    double worst = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst, std::abs(scores[i + 1].logprob.value() - expected[i]));
      sum += scores[i + 1].logprob.value();
    }
    CHECK(worst < 1e-4);
    CHECK(std::exp(-sum / static_cast<double>(expected.size())) ==
          Approx(run["perplexity"].get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("each token is scored once, by the first window that holds it", "[inspect]") {
  const auto model = loaded(tiny_native());  // 24 tokens of context
  Session session(model);
  Session other(model);
  for (const std::int64_t length : {2, 3, 10, 23, 24, 25, 40, 61})
    for (const auto& [window, stride] : {std::pair{24, 12}, {24, 23}, {24, 1}, {7, 3}, {2, 1}}) {
      CAPTURE(length, window, stride);
      const auto ids = random_ids(model.config(), length);
      const auto scores = scores_of(session, ids, options_for(window, stride));
      REQUIRE(scores.size() == ids.size());
      CHECK_FALSE(scores[0].logprob.has_value());
      for (std::int64_t position = 1; position < length; ++position) {
        const auto& score = scores[static_cast<std::size_t>(position)];
        const auto expected = defined_score(other, ids, position, window, stride);
        CHECK(score.position == position);
        CHECK(score.id == expected.id);
        CHECK(score.context == expected.context);
        CHECK(score.logprob.value() == Approx(expected.logprob.value()).margin(1e-5));
        CHECK(score.rank == expected.rank);
      }
    }
}

TEST_CASE("without numbers the window is the context and the stride half of it", "[inspect]") {
  const auto config = tiny_config();
  CHECK(resolve_windows({}, config).window == 24);
  CHECK(resolve_windows({}, config).stride == 12);
  CHECK(resolve_windows({9, 0}, config).stride == 4);
  const auto refused = [&](const Windows& windows, const std::vector<std::string>& parts) {
    check_refused(
        ErrorCode::usage, [&] { (void)resolve_windows(windows, config); }, parts);
  };
  refused({25, 0}, {"window", "24", "found 25"});
  refused({1, 0}, {"window", "found 1"});
  refused({24, 24}, {"stride", "1 to 23", "found 24"});
  refused({24, -1}, {"stride", "found -1"});
}

TEST_CASE("the likeliest tokens come with each score", "[inspect]") {
  const auto model = loaded(tiny_native());
  Session session(model);
  const auto ids = random_ids(model.config(), 20);
  const auto scores = scores_of(session, ids, options_for(24, 12, 3));
  CHECK(scores[0].top.empty());
  for (std::size_t i = 1; i < scores.size(); ++i) {
    const auto& score = scores[i];
    REQUIRE(score.top.size() == 3);
    CHECK(score.top[0].logprob >= score.top[1].logprob);
    if (score.rank <= 3) CHECK(score.top[static_cast<std::size_t>(score.rank - 1)].id == score.id);
  }
}

TEST_CASE("scoring that is stopped tells how far it came", "[inspect]") {
  const auto model = loaded(tiny_native());
  Session session(model);
  const auto ids = random_ids(model.config(), 60);
  ScoreOptions options = options_for(24, 12);
  int passes = 0;
  options.go_on = [&] { return ++passes <= 3; };
  std::int64_t seen = 0;
  const auto totals = score_text(session, ids, options, [&](const TokenScore&) { ++seen; });
  CHECK_FALSE(totals.complete);
  CHECK(totals.tokens == seen);
  CHECK(seen > 1);
  CHECK(seen < 60);
}

TEST_CASE("a text that has nothing to score is refused", "[inspect]") {
  const auto model = loaded(tiny_native());
  Session session(model);
  const auto score = [&](const std::vector<TokenId>& ids) {
    (void)score_text(session, ids, {}, [](const TokenScore&) {});
  };
  check_refused(ErrorCode::input, [&] { score({}); }, {"two tokens", "found 0"});
  check_refused(ErrorCode::input, [&] { score({3}); }, {"two tokens", "found 1"});
  check_refused(ErrorCode::input, [&] { score({3, 17}); }, {"0 to 16", "found 17"});
}

TEST_CASE("numbers that are not finite are told, not summed", "[inspect]") {
  auto tiny = tiny_native();
  tiny.tensor("blocks.1.mlp.W_out").bytes.replace(0, 4, std::string("\x00\x00\xC0\x7F", 4));
  const auto model = loaded(tiny);
  Session session(model);
  check_refused(ErrorCode::numbers,
                [&] {
                  (void)score_text(session, std::vector<TokenId>{1, 2, 3}, {}, [](const auto&) {});
                },
                {"layer 1", "nan"});
}

}  // namespace qkv::test
