// The choice of the next token: who may come at all, and how often.

#include "qkv/generate/sampler.hpp"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "qkv/model/logprobs.hpp"
#include "support/catch.hpp"

namespace qkv::test {
namespace {

/// Logits of these probabilities.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const auto p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

std::map<TokenId, int> draw_many(const Sampling& sampling, const std::vector<float>& logits, int draws,
                                 const std::vector<TokenId>& history = {}) {
  Sampler sampler(sampling);
  std::map<TokenId, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.choose(logits, history)];
  return counts;
}

std::set<TokenId> drawn(const Sampling& sampling, const std::vector<float>& logits) {
  std::set<TokenId> ids;
  for (const auto& [id, count] : draw_many(sampling, logits, 3'000)) ids.insert(id);
  return ids;
}

/// Sum of (found - expected)^2 / expected.
double chi_square(const std::map<TokenId, int>& counts, const std::vector<double>& probabilities, int draws) {
  double sum = 0.0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const auto expected = probabilities[i] * draws;
    const auto found = counts.find(static_cast<TokenId>(i));
    const auto count = found == counts.end() ? 0.0 : static_cast<double>(found->second);
    sum += (count - expected) * (count - expected) / expected;
  }
  return sum;
}

constexpr Sampling open_sampling{.temperature = 1.0, .top_k = 0, .top_p = 1.0, .seed = 5};

Sampling with(void (*change)(Sampling&)) {
  auto sampling = open_sampling;
  change(sampling);
  return sampling;
}

/// Out of order, so that places and ranks differ: ranks are ids 3, 1, 4, 0, 2.
const std::vector<double> five{0.1, 0.25, 0.05, 0.4, 0.2};

}  // namespace

TEST_CASE("temperature 0 takes the largest logit, and the lowest id on ties", "[generate]") {
  Sampler greedy({.temperature = 0.0});
  CHECK(greedy.choose(std::vector<float>{1.0F, 3.0F, 2.0F}, {}) == 1);
  CHECK(greedy.choose(std::vector<float>{3.0F, 1.0F, 3.0F}, {}) == 0);
  CHECK(greedy.choose(std::vector<float>{-5.0F, -1.0F, -1.0F, -1.0F}, {}) == 1);
  CHECK(greedy.choose(std::vector<float>{0.0F}, {}) == 0);
  CHECK(greedy.choose(std::vector<float>{-1e38F, 1e38F}, {}) == 1);
}

TEST_CASE("draws follow the softmax of the logits", "[generate]") {
  constexpr int draws = 20'000;
  // 4 degrees of freedom: 23.5 is passed once in ten thousand.
  CHECK(chi_square(draw_many(open_sampling, logits_of(five), draws), five, draws) < 23.5);
  const std::vector<double> wrong{0.1, 0.25, 0.06, 0.39, 0.2};
  CHECK(chi_square(draw_many(open_sampling, logits_of(wrong), draws), five, draws) > 23.5);
}

TEST_CASE("temperature sharpens and flattens", "[generate]") {
  constexpr int draws = 20'000;
  for (const auto temperature : {0.5, 2.0}) {
    auto sampling = open_sampling;
    sampling.temperature = temperature;
    std::vector<double> expected;
    double sum = 0.0;
    for (const auto p : five) {
      expected.push_back(std::pow(p, 1.0 / temperature));
      sum += expected.back();
    }
    for (auto& p : expected) p /= sum;
    CHECK(chi_square(draw_many(sampling, logits_of(five), draws), expected, draws) < 23.5);
  }
}

TEST_CASE("a tiny or huge temperature gives a choice all the same", "[generate]") {
  CHECK(drawn(with([](Sampling& s) { s.temperature = 1e-300; }), logits_of(five)) == std::set<TokenId>{3});
  CHECK(drawn(with([](Sampling& s) { s.temperature = 1e300; }), logits_of(five)).size() == 5);
}

TEST_CASE("top_k keeps exactly the k likeliest", "[generate]") {
  const auto logits = logits_of(five);
  CHECK(drawn(with([](Sampling& s) { s.top_k = 1; }), logits) == std::set<TokenId>{3});
  CHECK(drawn(with([](Sampling& s) { s.top_k = 2; }), logits) == std::set<TokenId>{3, 1});
  CHECK(drawn(with([](Sampling& s) { s.top_k = 4; }), logits) == std::set<TokenId>{3, 1, 4, 0});
  CHECK(drawn(with([](Sampling& s) { s.top_k = 0; }), logits).size() == 5);
  CHECK(drawn(with([](Sampling& s) { s.top_k = 1'000'000; }), logits).size() == 5);
  CHECK(drawn(with([](Sampling& s) { s.top_k = 2; }), {1.0F, 1.0F, 1.0F}) == std::set<TokenId>{0, 1});
}

TEST_CASE("top_p keeps the likeliest that together reach p", "[generate]") {
  const auto logits = logits_of(five);  // summed up by rank: 0.4, 0.65, 0.85, 0.95, 1
  CHECK(drawn(with([](Sampling& s) { s.top_p = 0.0; }), logits) == std::set<TokenId>{3});
  CHECK(drawn(with([](Sampling& s) { s.top_p = 0.39; }), logits) == std::set<TokenId>{3});
  CHECK(drawn(with([](Sampling& s) { s.top_p = 0.41; }), logits) == std::set<TokenId>{3, 1});
  CHECK(drawn(with([](Sampling& s) { s.top_p = 0.7; }), logits) == std::set<TokenId>{3, 1, 4});
  CHECK(drawn(with([](Sampling& s) { s.top_p = 0.9; }), logits) == std::set<TokenId>{3, 1, 4, 0});
  CHECK(drawn(with([](Sampling& s) { s.top_p = 1.0; }), logits).size() == 5);
}

TEST_CASE("top_p counts shares after top_k and temperature", "[generate]") {
  const auto logits = logits_of(five);
  // Of the two likeliest, the first has 0.4 / 0.65 = 0.615.
  CHECK(drawn(with([](Sampling& s) { s.top_k = 2, s.top_p = 0.6; }), logits) == std::set<TokenId>{3});
  CHECK(drawn(with([](Sampling& s) { s.top_k = 2, s.top_p = 0.63; }), logits) == std::set<TokenId>{3, 1});
  // Squared and normalised, the first has 0.16 / 0.275 = 0.58.
  CHECK(drawn(with([](Sampling& s) { s.temperature = 0.5, s.top_p = 0.57; }), logits) == std::set<TokenId>{3});
}

TEST_CASE("min_p keeps those at least so many times as likely as the likeliest", "[generate]") {
  const auto logits = logits_of(five);
  CHECK(drawn(with([](Sampling& s) { s.min_p = 0.0; }), logits).size() == 5);
  CHECK(drawn(with([](Sampling& s) { s.min_p = 0.2; }), logits) == std::set<TokenId>{3, 1, 4, 0});
  CHECK(drawn(with([](Sampling& s) { s.min_p = 0.4; }), logits) == std::set<TokenId>{3, 1, 4});
  CHECK(drawn(with([](Sampling& s) { s.min_p = 0.6; }), logits) == std::set<TokenId>{3, 1});
  CHECK(drawn(with([](Sampling& s) { s.min_p = 1.0; }), logits) == std::set<TokenId>{3});
}

TEST_CASE("what is cut off leaves the shares of the rest as they are to each other", "[generate]") {
  constexpr int draws = 20'000;
  const auto counts = draw_many(with([](Sampling& s) { s.top_k = 2; }), logits_of(five), draws);
  CHECK(std::abs(counts.at(3) - draws * 0.4 / 0.65) < 5 * std::sqrt(draws * 0.24));
}

TEST_CASE("the repeat penalty divides positive logits and multiplies negative ones, once per token", "[generate]") {
  Sampler greedy({.temperature = 0.0, .repeat_penalty = 2.0});
  const std::vector<float> positive{4.0F, 1.9F, 2.1F};
  CHECK(greedy.choose(positive, std::vector<TokenId>{0}) == 2);        // 4 / 2 lies between the others
  CHECK(greedy.choose(positive, std::vector<TokenId>{0, 0, 0}) == 2);  // and not 4 / 8
  CHECK(greedy.choose(positive, std::vector<TokenId>{0, 2}) == 0);     // 2, 1.9, 1.05
  const std::vector<float> negative{-1.0F, -1.9F, -2.1F};
  CHECK(greedy.choose(negative, std::vector<TokenId>{0}) == 1);     // -1 * 2 lies between the others
  CHECK(greedy.choose(negative, std::vector<TokenId>{0, 1}) == 0);  // -2, -3.8, -2.1
  CHECK(greedy.choose(std::vector<float>{0.0F, -0.1F}, std::vector<TokenId>{0}) == 0);
  Sampler without({.temperature = 0.0, .repeat_penalty = 1.0});
  CHECK(without.choose(positive, std::vector<TokenId>{0}) == 0);
}

TEST_CASE("the repeat penalty changes the shares of a draw", "[generate]") {
  constexpr int draws = 20'000;
  auto sampling = open_sampling;
  sampling.repeat_penalty = 2.0;
  const std::vector<float> logits{2.0F, -1.0F, 1.0F};
  const std::vector<double> shifted{1.0, -2.0, 1.0};  // ids 0 and 1 were there
  std::vector<double> expected;
  const auto sum = std::exp(1.0) + std::exp(-2.0) + std::exp(1.0);
  for (const auto logit : shifted) expected.push_back(std::exp(logit) / sum);
  CHECK(chi_square(draw_many(sampling, logits, draws, {1, 0, 1}), expected, draws) < 18.4);
}

TEST_CASE("one seed gives one sequence, another seed another", "[generate]") {
  const auto sequence = [](std::uint64_t seed) {
    auto sampling = open_sampling;
    sampling.seed = seed;
    Sampler sampler(sampling);
    std::vector<TokenId> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(sampler.choose(logits_of(five), {}));
    return ids;
  };
  CHECK(sequence(1) == sequence(1));
  CHECK(sequence(1) != sequence(2));
  // Pinned: u = 0.7616, 0.4481, 0.9597, 0.7960, 0.4802, 0.7091 fall into the sorted shares 0.4, 0.65, 0.85, 0.95.
  const auto pinned = sequence(42);
  CHECK(std::vector<TokenId>(pinned.begin(), pinned.begin() + 6) == std::vector<TokenId>{4, 1, 2, 4, 1, 4});
}

TEST_CASE("log-probabilities are those of the softmax", "[generate]") {
  const auto logits = logits_of(five);
  for (std::size_t i = 0; i < five.size(); ++i)
    CHECK(logprob_of(logits, static_cast<TokenId>(i)) == Approx(std::log(five[i])).epsilon(1e-6));
  const std::vector<float> far{1000.0F, 999.0F, -1000.0F};
  CHECK(logprob_of(far, 0) == Approx(-std::log1p(std::exp(-1.0))));
  CHECK(logprob_of(far, 2) == Approx(-2000.0 - std::log1p(std::exp(-1.0))));
}

TEST_CASE("the likeliest tokens come in order, lower ids first on ties", "[generate]") {
  const auto ids_of = [](const std::vector<float>& logits, std::int64_t count) {
    std::vector<TokenId> ids;
    for (const auto& [id, logprob] : top_logprobs(logits, count)) {
      CHECK(logprob == Approx(logprob_of(logits, id)));
      ids.push_back(id);
    }
    return ids;
  };
  CHECK(ids_of(logits_of(five), 3) == std::vector<TokenId>{3, 1, 4});
  CHECK(ids_of(logits_of(five), 99) == std::vector<TokenId>{3, 1, 4, 0, 2});
  CHECK(ids_of({1.0F, 2.0F, 1.0F, 2.0F}, 4) == std::vector<TokenId>{1, 3, 0, 2});
  CHECK(ids_of({1.0F, 2.0F}, 0).empty());
}

}  // namespace qkv::test
