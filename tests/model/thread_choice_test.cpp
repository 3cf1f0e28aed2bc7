#include "qkv/model/thread_choice.hpp"

#include "support/catch.hpp"

namespace qkv::test {
namespace {

/// Passes of one kind on two processors, one after the other.
class Passes {
 public:
  explicit Passes(ThreadChoice& choice, std::int64_t rows = 64) : choice_(choice), rows_(rows) {}

  /// A pass of so many seconds, in which each thread ran for `share` of the time.
  void pass(double seconds, double share) {
    now_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
    choice_.passed({now_, seconds, share * choice_.threads() * seconds, rows_});
  }

 private:
  ThreadChoice& choice_;
  std::int64_t rows_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
};

}  // namespace

TEST_CASE("threads that all run stay", "[model]") {
  ThreadChoice choice(2, true);
  Passes passes(choice);
  for (int i = 0; i < 100; ++i) {
    passes.pass(0.06, 0.97);
    REQUIRE(choice.threads() == 2);
  }
}

TEST_CASE("threads that are kept from running give way to one, and come back when it is over", "[model]") {
  ThreadChoice choice(2, true);
  Passes passes(choice);
  passes.pass(0.06, 0.98);
  passes.pass(0.04, 0.7);  // an accident
  CHECK(choice.threads() == 2);
  passes.pass(0.06, 0.98);
  passes.pass(0.04, 0.7);
  CHECK(choice.threads() == 2);
  passes.pass(0.24, 0.7);  // somebody has taken a processor
  CHECK(choice.threads() == 1);
  int with_all = 0;
  int alone = 0;
  for (int i = 0; i < 200; ++i) {
    (choice.threads() == 2 ? with_all : alone) += 1;
    if (choice.threads() == 2)
      passes.pass(0.24, 0.7);
    else
      passes.pass(0.117, 1.0);
  }
  CHECK(with_all > 3);               // it is tried again,
  CHECK(alone > 20 * with_all / 2);  // but seldom
  for (int i = 0; i < 100; ++i) passes.pass(choice.threads() == 2 ? 0.06 : 0.117, 0.99);
  CHECK(choice.threads() == 2);
}

TEST_CASE("where one thread proves slower, all stay though they wait", "[model]") {
  ThreadChoice choice(2, true);  // threads that sleep while they wait use little of the processor too
  Passes passes(choice);
  int alone = 0;
  for (int i = 0; i < 300; ++i) {
    if (choice.threads() == 1) ++alone;
    passes.pass(choice.threads() == 2 ? 0.08 : 0.117, choice.threads() == 2 ? 0.75 : 1.0);
  }
  CHECK(alone > 0);
  CHECK(alone < 15);
}

TEST_CASE("a fixed number of threads, a single one or many, and passes too short to judge change nothing", "[model]") {
  for (auto choice : {ThreadChoice(2, false), ThreadChoice(1, true), ThreadChoice(16, true)}) {
    const auto threads = choice.threads();
    CHECK_FALSE(choice.adapts());
    Passes passes(choice);
    for (int i = 0; i < 10; ++i) passes.pass(0.2, 0.4);
    CHECK(choice.threads() == threads);
  }
  ThreadChoice choice(2, true);
  Passes passes(choice, 1);
  for (int i = 0; i < 10; ++i) passes.pass(0.0005, 0.4);
  CHECK(choice.threads() == 2);
}

TEST_CASE("processor time passes while this thread works", "[model]") {
  const auto begun = processor_seconds();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (std::chrono::steady_clock::now() < end) continue;
  CHECK(processor_seconds() > begun);
}

}  // namespace qkv::test
