#include "qkv/timing/measure.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "support/catch.hpp"

namespace qkv::test {
namespace {

/// A task that notes when it ran and says how long it took, without taking it.
Task noted(std::string& order, char name, double seconds, int group = 0) {
  return {[&order, name, seconds](std::int64_t) {
            order += name;
            return seconds;
          },
          group};
}

}  // namespace

TEST_CASE("tasks are warmed up one by one, then sampled in turn", "[timing]") {
  std::string order;
  const std::vector<Task> tasks{noted(order, 'a', 1.0), noted(order, 'b', 2.0)};
  const auto measured = measure(tasks, {3, 2, nullptr, nullptr});
  CHECK(order == "aabbababab");
  CHECK(measured[0].samples == std::vector<double>{1.0, 1.0, 1.0});
  CHECK(measured[1].samples == std::vector<double>{2.0, 2.0, 2.0});
  CHECK(measured[0].warmups == 2);
  CHECK(measured[0].settled);
}

TEST_CASE("the warm-up goes on until two samples agree, but not for ever", "[timing]") {
  double seconds = 16.0;
  const Task falling{[&](std::int64_t) { return seconds = std::max(1.0, seconds / 2); }};
  const auto settled = measure(std::vector<Task>{falling}, {1, 2, nullptr, nullptr});
  CHECK(settled[0].warmups == 5);  // 8, 4, 2, 1, 1
  CHECK(settled[0].settled);
  CHECK(settled[0].samples == std::vector<double>{1.0});

  const Task wild{[&](std::int64_t) { return seconds *= 2.0; }};
  const auto unsettled = measure(std::vector<Task>{wild}, {1, 2, nullptr, nullptr});
  CHECK_FALSE(unsettled[0].settled);
  CHECK(unsettled[0].warmups == 12);
  CHECK(measure(std::vector<Task>{wild}, {1, 20, nullptr, nullptr})[0].warmups == 20);
}

TEST_CASE("short tasks run several times a sample", "[timing]") {
  std::int64_t last = 0;
  const auto task = [&](double seconds) {
    return Task{[&last, seconds](std::int64_t passes) {
      last = passes;
      return seconds;
    }};
  };
  CHECK(measure(std::vector<Task>{task(1e-4)}, {1, 2, nullptr, nullptr})[0].passes == 10);
  CHECK(last == 10);
  CHECK(measure(std::vector<Task>{task(0.5)}, {1, 2, nullptr, nullptr})[0].passes == 1);
  CHECK(measure(std::vector<Task>{task(0.0)}, {1, 2, nullptr, nullptr})[0].passes == 1000);
}

TEST_CASE("a pass is thrown away where the threads change", "[timing]") {
  std::string order;
  const std::vector<Task> tasks{noted(order, 'a', 1.0, 1), noted(order, 'b', 1.0, 1), noted(order, 'c', 1.0, 2)};
  const auto measured = measure(tasks, {2, 2, nullptr, nullptr});
  CHECK(order ==
        "aabbcc"
        "aabcc"
        "aabcc");
  CHECK(measured[0].samples.size() == 2);
}

TEST_CASE("measuring stops when asked and keeps what is there", "[timing]") {
  int samples = 0;
  const Task task{[&](std::int64_t) {
    ++samples;
    return 1.0;
  }};
  const auto measured = measure(std::vector<Task>{task, task}, {10, 2, [&] { return samples >= 7; }, nullptr});
  CHECK(measured[0].samples.size() == 2);
  CHECK(measured[1].samples.size() == 1);
}

TEST_CASE("a pass takes as long as it takes", "[timing]") {
  const auto seconds = time_passes(3, [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
  CHECK(seconds >= 0.010);
  CHECK(seconds < 1.0);
}

}  // namespace qkv::test
