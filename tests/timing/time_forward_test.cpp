#include "qkv/timing/time_forward.hpp"

#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>

#include "qkv/ops/backends/blas.hpp"
#include "qkv/ops/parallel.hpp"
#include "qkv/timing/accuracy.hpp"
#include "qkv/timing/part_timer.hpp"
#include "qkv/timing/report_json.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

TimingPlan small_plan() {
  TimingPlan plan;
  plan.modes = {Mode::recompute, Mode::cached};
  plan.lengths = {1, 5};
  plan.threads = {1};
  plan.breakdown = true;
  plan.measure.repetitions = 6;
  return plan;
}

Model tiny() { return loaded(tiny_native()); }

/// Whether it holds in one of a few tries: another process may hold this one up at any moment.
bool holds_once(const std::function<bool()>& attempt) {
  for (int i = 0; i < 10; ++i)
    if (attempt()) return true;
  return false;
}

}  // namespace

TEST_CASE("a report has a row for each mode and length, and what follows from them", "[timing]") {
  const auto model = tiny();
  const auto report = time_forward(model, small_plan());
  REQUIRE(report.rows.size() == 4);
  CHECK(report.rows[1].mode == Mode::recompute);
  CHECK(report.rows[1].length == 5);
  CHECK(report.rows[2].mode == Mode::cached);
  for (const auto& row : report.rows) {
    CHECK(row.measured.samples.size() == 6);
    CHECK(row.time.median > 0.0);
    CHECK(row.time.min <= row.time.median);
    CHECK(row.time.median <= row.time.p90);
    const auto rates = rates_of(row, report.limits_of(row));
    CHECK(rates.flops_per_second == Approx(static_cast<double>(total(row.work).flops) / row.time.median));
    CHECK(rates.share > 0.0);
  }
  CHECK(report.rows[1].work.values[0].flops == count_work(model.config(), {0, 5}).values[0].flops);
  CHECK(report.rows[3].work.values[3].flops == count_work(model.config(), {4, 1}).values[3].flops);
  REQUIRE(report.comparisons.size() == 2);
  CHECK(report.comparisons[1].ratio == Approx(report.rows[1].time.median / report.rows[3].time.median));
  CHECK(report.comparisons[1].largest_logit_difference < 1e-5);
  CHECK(report.growth.size() == 2);
  CHECK(report.growth[0].tokens == 5);
  CHECK(report.peak_memory > 0);
  CHECK_FALSE(report.partial);
}

TEST_CASE("the parts of an observed pass are the whole pass", "[timing]") {
  const auto model = tiny();
  Session session(model, 1);
  const auto ids = random_ids(model.config(), 6);
  CHECK(holds_once([&] {
    PartTimer timer;
    const auto begin = PartTimer::Clock::now();
    timer.start();
    (void)session.forward(ids, Rows::last, &timer);
    timer.stop();
    const auto whole = std::chrono::duration<double>(PartTimer::Clock::now() - begin).count();
    double sum = 0.0;
    for (const auto part : all_parts) {
      CAPTURE(name_of(part));
      CHECK(timer.seconds()[part] > 0.0);
      sum += timer.seconds()[part];
    }
    CHECK(sum <= whole);
    return sum > 0.5 * whole;  // nothing but two looks at the clock is left
  }));
}

TEST_CASE("time goes to the part that ends at a place", "[timing]") {
  PartTimer timer;
  const auto wait = [] {
    const auto end = PartTimer::Clock::now() + std::chrono::milliseconds(5);
    while (PartTimer::Clock::now() < end) continue;
  };
  const auto charged = [&](Place place) {
    timer.start();
    timer.observe({Place::v, 0, 0, 0, {}});
    wait();
    timer.observe({place, 0, 0, 0, {}});
    timer.observe({Place::head_out, 0, 0, 0, {}});
    for (const auto part : all_parts)
      if (timer.seconds()[part] > 0.004) return part;
    return Part::rest;
  };
  CHECK(charged(Place::attn_in) == Part::norms);
  CHECK(charged(Place::mlp_in) == Part::norms);
  CHECK(charged(Place::final_norm) == Part::norms);
  CHECK(charged(Place::q) == Part::qkv);
  CHECK(charged(Place::scores) == Part::scores);
  CHECK(charged(Place::weights) == Part::softmax);
  CHECK(charged(Place::blend) == Part::blend);
  CHECK(charged(Place::attn_out) == Part::w_o);
  CHECK(charged(Place::mlp_out) == Part::mlp);
  CHECK(charged(Place::logits) == Part::head);
  CHECK(charged(Place::residual) == Part::rest);
}

TEST_CASE("what threads that share heads took is divided among the parts as the sum of theirs", "[timing]") {
  const auto threads_before = ops::worker_count();
  ops::blas::set_threads(2);
  const auto wait = [](int milliseconds) {
    const auto end = PartTimer::Clock::now() + std::chrono::milliseconds(milliseconds);
    while (PartTimer::Clock::now() < end) continue;
  };
  CHECK(holds_once([&] {
    PartTimer timer;
    const auto see = [&](Place place, int worker) { timer.observe({place, 0, 0, 0, {}, 0, worker}); };
    timer.start();
    see(Place::v, 0);
    wait(20);
    see(Place::scores, 0);
    see(Place::scores, 1);
    wait(20);
    see(Place::weights, 1);
    see(Place::head_out, 0);
    timer.stop();
    // 40 ms in all: scores took two threads 20 each, softmax one of them 20.
    const auto& seconds = timer.seconds();
    CHECK(seconds[Part::scores] + seconds[Part::softmax] > 0.039);
    CHECK(seconds[Part::blend] == 0.0);
    return seconds[Part::scores] / seconds[Part::softmax] == Approx(2.0).epsilon(0.5);
  }));
  ops::blas::set_threads(threads_before);
}

TEST_CASE("logits that are not finite end the timing", "[timing]") {
  auto tiny_model = tiny_native();
  auto& gain = tiny_model.tensor("final_norm.gain");
  gain.bytes = bytes_of(std::vector<float>(gain.bytes.size() / 4, INFINITY));
  check_refused(ErrorCode::numbers, [&] { (void)time_forward(loaded(tiny_model), small_plan()); }, {"finite"});
}

TEST_CASE("logits that are not finite are no agreement", "[timing]") {
  auto tiny_model = tiny_native();
  const auto exact = loaded(tiny_model);
  auto& gain = tiny_model.tensor("final_norm.gain");
  auto numbers = std::vector<float>(gain.bytes.size() / 4, 1.0F);
  numbers.back() = NAN;
  gain.bytes = bytes_of(numbers);
  const auto broken = loaded(tiny_model);
  const auto ids = some_ids(exact.config(), 5);
  const auto compare = [&](const Model& one, const Model& other) {
    (void)compare_accuracy(one, other, ids, [] { return true; });
  };
  check_refused(ErrorCode::numbers, [&] { compare(exact, broken); }, {"finite"});
  check_refused(ErrorCode::numbers, [&] { compare(broken, exact); }, {"finite"});
}

TEST_CASE("more threads than there can be are not timed", "[timing]") {
  auto plan = small_plan();
  plan.threads = {100000};
  check_refused(ErrorCode::usage, [&] { (void)time_forward(loaded(tiny_native()), plan); }, {"threads", "100000"});
  ops::blas::set_threads(1);
}

TEST_CASE("of limits measured twice the better ones count", "[timing]") {
  const auto best = best_of({2, 10.0, 5.0, 7.0, 64}, {2, 8.0, 6.0, 9.0, 64});
  CHECK(best.threads == 2);
  CHECK(best.linear_rate == 10.0);
  CHECK(best.matmul_rate == 6.0);
  CHECK(best.read_rate == 9.0);
  CHECK(best.read_block == 64);
}

TEST_CASE("an interrupted report is partial and holds what was measured", "[timing]") {
  int asked = 0;
  auto plan = small_plan();
  plan.measure.should_stop = [&] { return ++asked > 40; };
  const auto report = time_forward(tiny(), plan);
  CHECK(report.partial);
  for (const auto& row : report.rows) CHECK(row.measured.samples.size() < 6);
}

TEST_CASE("json holds the table and the raw samples, and is its own baseline", "[timing]") {
  const auto report = time_forward(tiny(), small_plan());
  const auto json = to_json(report);
  CHECK(json["schema"] == "qkv.time/1");
  REQUIRE(json["rows"].size() == 4);
  const auto& row = json["rows"][1];
  CHECK(row["samples_s"].size() == 6);
  CHECK(row["samples_s"][0] == report.rows[1].measured.samples[0]);
  CHECK(row["median_s"] == report.rows[1].time.median);
  CHECK(row["parts"].size() == all_parts.size());
  CHECK_FALSE(row.contains("ratio_to_baseline"));

  const TemporaryDirectory directory;
  const auto file = directory.path() / "baseline.json";
  std::ofstream(file) << json.dump();
  const auto baseline = Baseline::open(file);
  CHECK(baseline.differences(report).empty());
  const auto compared = to_json(report, &baseline);
  for (const auto& one : compared["rows"]) CHECK(one["ratio_to_baseline"].get<double>() == Approx(1.0));
  auto other = report;
  other.machine.processors += 1;
  other.rows[0].length = 3;
  CHECK(baseline.differences(other) == std::vector<std::string>{"machine processors"});
  other.build = {"another version", "another compiler", "x86-64", "another BLAS", "another kernel"};
  CHECK(baseline.differences(other) == std::vector<std::string>{"machine processors", "build compiler", "build simd",
                                                                "build blas", "build blas_kernel"});
  CHECK_FALSE(baseline.median_of(other.rows[0]).has_value());
}

TEST_CASE("what is no earlier report is refused as a baseline", "[timing]") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "baseline.json";
  const auto refuse = [&](const std::string& text, const std::vector<std::string>& parts) {
    std::ofstream(file) << text;
    check_refused(
        ErrorCode::usage, [&] { (void)Baseline::open(file); }, parts);
  };
  refuse("{", {"baseline.json", "JSON"});
  refuse(R"({"schema": "qkv.heads/1"})", {"schema", "qkv.time/1", "qkv.heads/1"});
  refuse(R"({"schema": "qkv.time/1", "model": {"name": "x"}, "machine": {"processor": "y"}, "rows": []})",
         {"build", "found nothing"});
  refuse(R"({"schema": "qkv.time/1", "model": {"name": "x"}, "machine": {"processor": "y"}, "build": {"compiler": "z"},
         "rows": [{"mode": "cached", "length": 1, "threads": 1, "median_s": -1}]})",
         {"median_s", "-1"});
}

}  // namespace qkv::test
