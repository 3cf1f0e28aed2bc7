// The loop: plain against cached, every reason to stop, and the exact edges of the context.

#include "qkv/generate/generate.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

constexpr std::int64_t n_ctx = 24;  // of tiny_config()

const OnToken go_on = [](const NewToken&) { return Next::go_on; };

Generation greedy(const Model& model, const std::vector<TokenId>& prompt, const GenerateOptions& options,
                  const OnToken& on_token = go_on) {
  Session session(model, 1);
  Sampler sampler({.temperature = 0.0});
  return generate(session, prompt, sampler, options, on_token);
}

std::vector<TokenId> prompt_of(std::int64_t length) { return random_ids(tiny_config(), length, 31); }

/// Weights whose greedy text does not settle on one token at once.
Model lively(Config config = tiny_config()) { return loaded(tiny_native(config, 12)); }

/// The text as the words of Overflow::slide say it: the model sees all, and when that is too much, the newer half of a
/// context, after the begin token if there is one.
std::vector<TokenId> slid_by_hand(const Model& model, std::vector<TokenId> seen, int count) {
  std::vector<TokenId> text;
  for (int i = 0; i < count; ++i) {
    if (static_cast<std::int64_t>(seen.size()) > n_ctx) {
      std::vector<TokenId> kept(seen.end() - n_ctx / 2, seen.end());
      if (model.config().bos && seen.front() == *model.config().bos) kept.insert(kept.begin(), seen.front());
      seen = kept;
    }
    Session session(model, 1);
    const auto logits = copied(session.forward(seen));
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    seen.push_back(static_cast<TokenId>(best));
    text.push_back(seen.back());
  }
  return text;
}

}  // namespace

TEST_CASE("the plain and the cached loop give the same text", "[generate]") {
  for (const auto kind : {PositionConfig::Kind::none, PositionConfig::Kind::learned, PositionConfig::Kind::rotary}) {
    auto config = tiny_config();
    config.position.kind = kind;
    config.position.rotary.n_rotated = 4;
    const auto model = lively(config);
    for (const auto temperature : {0.0, 1.0}) {
      std::vector<std::vector<TokenId>> texts;
      for (const bool cache : {false, true}) {
        Session session(model, 1);
        Sampler sampler({.temperature = temperature, .seed = 3});
        const auto generation = generate(session, prompt_of(5), sampler, {.max_new_tokens = 15, .cache = cache}, go_on);
        CHECK(generation.reason == StopReason::length);
        CHECK(generation.steps == 15);
        texts.push_back(generation.ids);
      }
      CHECK(texts[0].size() == 15);
      CHECK(texts[0] == texts[1]);
    }
  }
}

TEST_CASE("each token is told with its index and the logits it was chosen by", "[generate]") {
  const auto model = lively();
  for (const bool cache : {false, true}) {
    auto so_far = prompt_of(4);
    std::int64_t expected_index = 0;
    const auto generation = greedy(model, so_far, {.max_new_tokens = 8, .cache = cache}, [&](const NewToken& token) {
      CHECK(token.index == expected_index++);
      REQUIRE(token.logits.size() == 17);
      const auto best = std::max_element(token.logits.begin(), token.logits.end()) - token.logits.begin();
      CHECK(token.id == best);
      Session session(model, 1);
      CHECK(static_cast<double>(token.logits[3]) ==
            Approx(static_cast<double>(session.forward(so_far).at(0, 3))).margin(1e-5));
      so_far.push_back(token.id);
      return Next::go_on;
    });
    CHECK(std::equal(generation.ids.begin(), generation.ids.end(), so_far.begin() + 4, so_far.end()));
  }
}

TEST_CASE("a prompt that fills the context gives exactly one token", "[generate]") {
  const auto model = lively();
  for (const bool cache : {false, true}) {
    const auto full = greedy(model, prompt_of(n_ctx), {.max_new_tokens = 10, .cache = cache});
    CHECK(full.ids.size() == 1);
    CHECK(full.reason == StopReason::context);
    CHECK(full.steps == 1);
    const auto one_less = greedy(model, prompt_of(n_ctx - 1), {.max_new_tokens = 10, .cache = cache});
    CHECK(one_less.ids.size() == 2);
    CHECK(one_less.reason == StopReason::context);
    const auto exact = greedy(model, prompt_of(n_ctx), {.max_new_tokens = 1, .cache = cache});
    CHECK(exact.ids.size() == 1);
    CHECK(exact.reason == StopReason::length);
  }
}

TEST_CASE("a prompt that is longer than the context is refused, unless it may slide", "[generate]") {
  const auto model = lively();
  for (const auto overflow : {Overflow::stop, Overflow::error})
    check_refused(ErrorCode::input,
                  [&] { (void)greedy(model, prompt_of(n_ctx + 1), {.max_new_tokens = 1, .overflow = overflow}); },
                  {"prompt", "at most 24 tokens", "found 25"});
  CHECK(greedy(model, prompt_of(n_ctx + 1), {.max_new_tokens = 3, .overflow = Overflow::slide}).ids.size() == 3);
}

TEST_CASE("where overflow is an error, what would not fit is refused beforehand", "[generate]") {
  const auto model = lively();
  const auto run = [&](std::int64_t prompt, std::int64_t new_tokens) {
    return greedy(model, prompt_of(prompt), {.max_new_tokens = new_tokens, .overflow = Overflow::error});
  };
  CHECK(run(n_ctx, 1).reason == StopReason::length);
  CHECK(run(20, 5).ids.size() == 5);  // the last token is not run: 20 + 4 places
  check_refused(ErrorCode::input, [&] { (void)run(20, 6); }, {"prompt", "20 tokens and 6 new ones", "context of 24"});
  check_refused(ErrorCode::input, [&] { (void)run(1, std::numeric_limits<std::int64_t>::max()); }, {"context of 24"});
}

TEST_CASE("a sliding text goes on past the context, the newer half kept", "[generate]") {
  for (const bool with_bos : {false, true}) {
    auto config = tiny_config();
    if (with_bos) config.bos = prompt_of(1).front();
    const auto model = lively(config);
    for (const std::int64_t length : {std::int64_t{3}, n_ctx, n_ctx + 1, 3 * n_ctx}) {
      CAPTURE(with_bos, length);
      const auto expected = slid_by_hand(model, prompt_of(length), 60);
      for (const bool cache : {false, true}) {
        const auto generation =
            greedy(model, prompt_of(length), {.max_new_tokens = 60, .cache = cache, .overflow = Overflow::slide});
        CHECK(generation.ids == expected);
        CHECK(generation.reason == StopReason::length);
      }
    }
  }
}

TEST_CASE("a context of one or two tokens slides too", "[generate]") {
  for (const std::int64_t context : {1, 2, 3}) {
    auto config = tiny_config();
    config.n_ctx = context;
    config.bos = 5;
    const auto model = lively(config);
    for (const bool cache : {false, true})
      CHECK(greedy(model, {5}, {.max_new_tokens = 9, .cache = cache, .overflow = Overflow::slide}).ids.size() == 9);
  }
}

TEST_CASE("an end token ends the text and is not part of it, unless it is ignored", "[generate]") {
  const auto free = greedy(lively(), prompt_of(4), {.max_new_tokens = 12}).ids;
  const auto end = free.back();
  const auto first = std::find(free.begin(), free.end(), end) - free.begin();
  auto config = tiny_config();
  config.eos = {end};
  const auto model = lively(config);
  for (const bool cache : {false, true}) {
    std::int64_t told = 0;
    const auto stopped = greedy(model, prompt_of(4), {.max_new_tokens = 12, .cache = cache}, [&](const NewToken&) {
      ++told;
      return Next::go_on;
    });
    CHECK(stopped.reason == StopReason::eos);
    CHECK(stopped.ids == std::vector<TokenId>(free.begin(), free.begin() + first));
    CHECK(told == first);
    CHECK(stopped.steps == first + 1);
    const auto ignored = greedy(model, prompt_of(4), {.max_new_tokens = 12, .cache = cache, .ignore_eos = true});
    CHECK(ignored.reason == StopReason::length);
    CHECK(ignored.ids == free);
  }
}

TEST_CASE("the receiver can stop and interrupt, and its last token counts", "[generate]") {
  const auto model = lively();
  const auto stop_at = [&](std::int64_t index, Next next) {
    return greedy(model, prompt_of(4), {.max_new_tokens = 12},
                  [=](const NewToken& token) { return token.index == index ? next : Next::go_on; });
  };
  const auto stopped = stop_at(2, Next::stop);
  CHECK(stopped.ids.size() == 3);
  CHECK(stopped.reason == StopReason::stop);
  const auto interrupted = stop_at(0, Next::interrupt);
  CHECK(interrupted.ids.size() == 1);
  CHECK(interrupted.reason == StopReason::interrupted);
}

TEST_CASE("no new tokens, and as many as anybody could ask for", "[generate]") {
  const auto model = lively();
  const auto none = greedy(model, prompt_of(4), {.max_new_tokens = 0});
  CHECK(none.ids.empty());
  CHECK(none.steps == 0);
  CHECK(none.reason == StopReason::length);
  const auto most = greedy(model, prompt_of(4), {.max_new_tokens = std::numeric_limits<std::int64_t>::max()});
  CHECK(most.reason == StopReason::context);
  CHECK(most.ids.size() == n_ctx - 4 + 1);
}

TEST_CASE("an empty prompt and unknown tokens are refused", "[generate]") {
  const auto model = lively();
  check_refused(ErrorCode::input, [&] { (void)greedy(model, {}, {}); }, {"prompt", "at least one token"});
  check_refused(ErrorCode::input, [&] { (void)greedy(model, {3, 17}, {}); }, {"from 0 to 16", "found 17"});
  check_refused(ErrorCode::input, [&] { (void)greedy(model, {-1}, {}); }, {"from 0 to 16", "found -1"});
}

TEST_CASE("what a session ran before has no influence", "[generate]") {
  const auto model = lively();
  const auto expected = greedy(model, prompt_of(6), {.max_new_tokens = 10}).ids;
  for (const bool cache : {false, true}) {
    Session session(model, 1);
    (void)session.forward(std::vector<TokenId>{9, 9, 9});
    Sampler sampler({.temperature = 0.0});
    for (int again = 0; again < 2; ++again)
      CHECK(generate(session, prompt_of(6), sampler, {.max_new_tokens = 10, .cache = cache}, go_on).ids == expected);
  }
}

TEST_CASE("the repeat penalty sees the prompt and the new tokens", "[generate]") {
  const auto model = lively();
  Session session(model, 1);
  Sampler sampler({.temperature = 0.0, .repeat_penalty = 1e6});
  auto ids = generate(session, std::vector<TokenId>{1, 2, 3}, sampler, {.max_new_tokens = 6}, go_on).ids;
  std::vector<TokenId> all{1, 2, 3};
  all.insert(all.end(), ids.begin(), ids.end());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("reasons to stop have the names that are printed", "[generate]") {
  CHECK(name_of(StopReason::eos) == "eos");
  CHECK(name_of(StopReason::stop) == "stop");
  CHECK(name_of(StopReason::length) == "length");
  CHECK(name_of(StopReason::context) == "context");
  CHECK(name_of(StopReason::interrupted) == "interrupted");
}

}  // namespace qkv::test
