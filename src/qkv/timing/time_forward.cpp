#include "qkv/timing/time_forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "qkv/model/finite_check.hpp"
#include "qkv/model/session.hpp"
#include "qkv/timing/accuracy.hpp"
#include "qkv/timing/part_timer.hpp"

namespace qkv {
namespace {

/// Of one weight of a linear layer, as a pass reads it.
std::int64_t weight_bytes(ops::Precision precision) { return precision == ops::Precision::bf16 ? 2 : 4; }

/// One row's step, ready to be run again and again.
class RepeatedStep {
 public:
  /// `session` is the row's own when tokens are kept: what it keeps must stay.
  RepeatedStep(std::shared_ptr<Session> session, std::span<const TokenId> text, Mode mode)
      : session_(std::move(session)), text_(text), step_(step_of(mode, static_cast<std::int64_t>(text.size()))) {}

  ConstMatrixView run(Observer* observer = nullptr) {
    if (session_->length() < step_.past) (void)session_->forward(text_.first(past()));
    session_->rewind(step_.past);
    return session_->forward(text_.subspan(past()), Rows::last, observer);
  }

  /// The logits, checked.
  [[nodiscard]] std::vector<float> logits() {
    const auto row = run().row(0);
    std::vector<float> numbers(row.begin(), row.end());
    require_finite(numbers, *session_, text_);
    return numbers;
  }

  [[nodiscard]] int threads() const { return session_->threads(); }

 private:
  [[nodiscard]] std::size_t past() const { return static_cast<std::size_t>(step_.past); }

  std::shared_ptr<Session> session_;
  std::span<const TokenId> text_;
  Step step_;
};

/// Samples of where the time goes, for one row.
struct PartSamples {
  std::vector<PerPart<double>> parts;
  std::vector<double> passes;

  double take(RepeatedStep& step, std::int64_t passes_in_a_row) {
    PartTimer timer;
    PerPart<double> sum;
    const auto seconds = time_passes(passes_in_a_row, [&] {
      timer.start();
      (void)step.run(&timer);
      timer.stop();
      for (const auto part : all_parts) sum[part] += timer.seconds()[part] / static_cast<double>(passes_in_a_row);
    });
    parts.push_back(sum);
    passes.push_back(seconds);
    return seconds;
  }

  /// Medians of the last `count` samples: those before were taken in the warm-up.
  [[nodiscard]] PartTimes medians(std::size_t count) const {
    PartTimes times;
    times.pass = median_of(std::span(passes).last(count));
    for (const auto part : all_parts) {
      std::vector<double> seconds;
      for (const auto& one : std::span(parts).last(count)) seconds.push_back(one[part]);
      times.seconds[part] = median_of(seconds);
    }
    return times;
  }
};

/// The rows of a plan, the tasks that time them, and what those found.
class Bench {
 public:
  Bench(const Model& model, const TimingPlan& plan)
      : model_(model), plan_(plan), ids_(some_ids(model.config(), longest(plan.lengths))) {
    for (const auto threads : plan.threads) {
      const auto shared = std::make_shared<Session>(model, threads);  // nothing is kept in it from step to step
      for (const auto mode : plan.modes)
        for (const auto length : plan.lengths)
          add(mode == Mode::recompute ? shared : std::make_shared<Session>(model, threads), mode, length);
    }
  }

  /// Cold, once.
  double first_pass() {
    return time_passes(1, [&] { (void)steps_.front()->run(); });
  }

  /// The largest difference between the logits of the two modes, and what they are checked for on the way.
  double largest_difference(std::int64_t length, int threads) {
    std::vector<float> known;
    double largest = 0.0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].length != length || rows_[i].threads != threads) continue;
      const auto logits = steps_[i]->logits();
      for (std::size_t v = 0; v < known.size(); ++v)
        largest = std::max(largest, std::abs(static_cast<double>(logits[v]) - static_cast<double>(known[v])));
      known = logits;
    }
    return largest;
  }

  /// Times every row, an observed sample after each plain one where parts are wanted. Rows without a sample are left
  /// out.
  std::vector<TimedRow> run() {
    std::vector<PartSamples> parts(plan_.breakdown ? steps_.size() : 0);
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      auto& step = *steps_[i];
      tasks.push_back({[&step](std::int64_t passes) { return time_passes(passes, [&step] { (void)step.run(); }); },
                       step.threads()});
      if (plan_.breakdown)
        tasks.push_back(
            {[&step, &parts, i](std::int64_t passes) { return parts[i].take(step, passes); }, step.threads()});
    }
    const auto measured = measure(tasks, plan_.measure);
    std::vector<TimedRow> rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto task = plan_.breakdown ? 2 * i : i;
      if (measured[task].samples.empty()) continue;
      auto& row = rows.emplace_back(rows_[i]);
      row.measured = measured[task];
      row.time = summarize(row.measured.samples);
      if (row.time.doubt.empty() && !row.measured.settled) row.time.doubt = "did not settle in the warm-up";
      if (plan_.breakdown && !measured[task + 1].samples.empty())
        row.parts = parts[i].medians(measured[task + 1].samples.size());
    }
    return rows;
  }

 private:
  static std::int64_t longest(const std::vector<std::int64_t>& lengths) {
    return *std::max_element(lengths.begin(), lengths.end());
  }

  void add(std::shared_ptr<Session> session, Mode mode, std::int64_t length) {
    TimedRow row;
    row.mode = mode;
    row.length = length;
    row.threads = session->threads();
    row.work = count_work(model_.config(), step_of(mode, length), weight_bytes(model_.precision()));
    rows_.push_back(row);
    steps_.push_back(std::make_unique<RepeatedStep>(std::move(session),
                                                    std::span(ids_).first(static_cast<std::size_t>(length)), mode));
  }

  const Model& model_;
  const TimingPlan& plan_;
  std::vector<TokenId> ids_;
  std::vector<TimedRow> rows_;
  std::vector<std::unique_ptr<RepeatedStep>> steps_;
};

std::string describe_shape(const Config& config) {
  return fmt::format("{} layers, {} heads, {} wide", config.n_layers, config.attention.n_heads, config.d_model);
}

/// Of the weights as they are stored.
std::int64_t stored_bytes(const Model& model) {
  std::int64_t bytes = 0;
  for (const auto& tensor : model.tensors()) bytes += static_cast<std::int64_t>(tensor.bytes.size());
  return bytes;
}

std::vector<Limits> limits_now(const Model& model, const TimingPlan& plan) {
  const auto bytes = model.config().parameter_count() * weight_bytes(model.precision());
  std::vector<Limits> limits;
  for (const auto threads : plan.threads)
    limits.push_back(measure_limits(model.backend(), model.precision(), threads, bytes));
  return limits;
}

}  // namespace

TimingReport time_forward(const Model& model, const TimingPlan& plan) {
  const auto& config = model.config();
  TimingReport report;
  report.model = {model.name(),
                  model.path().empty(),
                  config.parameter_count(),
                  stored_bytes(model),
                  describe_shape(config),
                  std::string(model.backend()),
                  std::string(ops::name_of(model.precision()))};
  report.machine = this_machine();
  Bench bench(model, plan);
  report.first_pass_seconds = bench.first_pass();
  // A machine's memory may be faster at one time than at another: what the rows met lies between before and after.
  report.limits = limits_now(model, plan);
  report.rows = bench.run();
  const auto after = limits_now(model, plan);
  for (std::size_t i = 0; i < after.size(); ++i) report.limits[i] = best_of(report.limits[i], after[i]);
  derive(report);
  for (auto& comparison : report.comparisons)
    comparison.largest_logit_difference = bench.largest_difference(comparison.length, comparison.threads);
  report.peak_memory = peak_memory();
  report.partial = plan.measure.should_stop && plan.measure.should_stop();
  return report;
}

}  // namespace qkv
