#include "qkv/ops/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "qkv/ops/backends/blas.hpp"
#include "support/catch.hpp"

namespace qkv::test {
namespace {

/// So many threads, until it goes.
class Threads {
 public:
  explicit Threads(int count) : before_(ops::worker_count()) { ops::blas::set_threads(count); }
  ~Threads() { ops::blas::set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace

TEST_CASE("work is shared out once an item, among workers that are there", "[ops]") {
  for (const int threads : {1, 2, 3}) {
    const Threads set(threads);
    for (const auto workers : {ops::Workers::one, ops::Workers::all})
      for (const std::int64_t count : {0, 1, 2, 7, 100}) {
        CAPTURE(threads, count);
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
        std::atomic<int> highest = 0;
        ops::share_out(count, workers, [&](std::int64_t item, int worker) {
          ++done[static_cast<std::size_t>(item)];
          if (worker > highest) highest = worker;
        });
        for (const auto& times : done) REQUIRE(times == 1);
        CHECK(highest < ops::worker_count());
        if (workers == ops::Workers::one) CHECK(highest == 0);
      }
  }
}

TEST_CASE("as many items as workers are each done by its own", "[ops]") {
  for (const int threads : {1, 2, 3}) {
    const Threads set(threads);
    for (int times = 0; times < 20; ++times) {
      std::vector<int> by(static_cast<std::size_t>(threads), -1);
      ops::share_out(threads, ops::Workers::all,
                     [&](std::int64_t item, int worker) { by[static_cast<std::size_t>(item)] = worker; });
      for (int i = 0; i < threads; ++i) CHECK(by[static_cast<std::size_t>(i)] == i);
    }
  }
}

TEST_CASE("one worker takes its items in order", "[ops]") {
  const Threads set(2);
  std::vector<std::int64_t> items;
  ops::share_out(50, ops::Workers::one, [&](std::int64_t item, int) { items.push_back(item); });
  REQUIRE(items.size() == 50);
  for (std::size_t i = 0; i < items.size(); ++i) CHECK(items[i] == static_cast<std::int64_t>(i));
}

TEST_CASE("what shared work throws reaches who asked for it", "[ops]") {
  for (const int threads : {1, 2}) {
    const Threads set(threads);
    for (const auto workers : {ops::Workers::one, ops::Workers::all}) {
      const auto work = [](std::int64_t item, int) {
        if (item == 3) throw std::runtime_error("three");
      };
      CHECK_THROWS_AS(ops::share_out(10, workers, work), std::runtime_error);
    }
  }
}

TEST_CASE("runs of rows make up all rows, none of them twice", "[ops]") {
  const Threads set(2);
  for (const std::int64_t rows : {0, 1, 2, 3, 101})
    for (const std::int64_t cols : {1, 100'000}) {
      CAPTURE(rows, cols);
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(rows));
      ops::for_runs_of_rows(rows, cols, [&](std::int64_t first, std::int64_t count) {
        for (auto row = first; row < first + count; ++row) ++done[static_cast<std::size_t>(row)];
      });
      for (const auto& times : done) REQUIRE(times == 1);
    }
}

}  // namespace qkv::test
