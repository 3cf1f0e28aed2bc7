#include "time_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "output.hpp"
#include "qkv/core/utf8.hpp"

namespace qkv::app {
namespace {

/// Three digits that count, and no more.
std::string digits(double value) {
  const auto size = value > 0.0 ? std::floor(std::log10(value)) : 0.0;
  return fmt::format("{:.{}f}", value, std::clamp(2 - static_cast<int>(size), 0, 3));
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{} µs", digits(1e6 * seconds));
  if (seconds < 1.0) return fmt::format("{} ms", digits(1e3 * seconds));
  return fmt::format("{} s", digits(seconds));
}

std::string percent(double share) {
  return share > 0.0 && share < 0.005 ? "<1 %" : fmt::format("{:.0f} %", 100.0 * share);
}

/// "1 token", "2 tokens"
std::string count(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string megabytes(std::int64_t bytes) { return fmt::format("{} MB", digits(static_cast<double>(bytes) / 1e6)); }

/// "1,234,567"
std::string grouped(std::int64_t number) {
  if (number < 1000) return fmt::format("{}", number);
  return fmt::format("{},{:03}", grouped(number / 1000), number % 1000);
}

/// How many times the baseline's median a row takes.
std::string ratio_text(const TimedRow& row, const Baseline& baseline, const char* absent) {
  const auto before = baseline.median_of(row).value_or(0.0);
  return before > 0.0 ? fmt::format("{:.3f}", row.time.median / before) : absent;
}

/// A heading, a table under it, and what is to be said of it.
struct Section {
  std::string title;
  TextTable table;
  std::vector<std::string> notes;
};

std::string heading(const TimingReport& report) {
  const auto& model = report.model;
  auto text = fmt::format("{}{}: {}, {} parameters, {}; backend {}, {}\n", model.name,
                          model.random_weights ? " (random weights)" : "", model.shape, grouped(model.parameters),
                          megabytes(model.weight_bytes), model.backend, model.precision);
  text += fmt::format("{}, {} for this process; BLAS kernel {}\n", report.machine.processor,
                      count(report.machine.processors, "core"), report.build.blas_kernel);
  for (const auto& limits : report.limits)
    text += fmt::format("{} can at best: products {} GFLOP/s{}, reading {} GB/s (a block of {})\n",
                        count(limits.threads, "thread"), digits(limits.linear_rate / 1e9),
                        limits.linear_rate == limits.matmul_rate
                            ? ""
                            : fmt::format(" (inside attention {})", digits(limits.matmul_rate / 1e9)),
                        digits(limits.read_rate / 1e9), megabytes(limits.read_block));
  text += fmt::format("opened in {}, first pass {}; at most {} of memory\n", duration(report.open_seconds),
                      duration(report.first_pass_seconds), megabytes(report.peak_memory));
  return text;
}

Section steps(const TimingReport& report, const Baseline* baseline) {
  const bool sweep = report.limits.size() > 1;
  std::vector<TextTable::Column> columns{{"step"}, {"tokens", true}};
  if (sweep) columns.push_back({"threads", true});
  for (const auto* title : {"median", "min", "p90", "spread", "tokens/s", "GFLOP/s", "GB/s"})
    columns.push_back({title, true});
  columns.insert(columns.end(), {{"limit"}, {"reached", true}});
  if (baseline != nullptr) columns.push_back({"to baseline", true});
  columns.push_back({"trust"});
  TextTable table(columns);
  for (const auto& row : report.rows) {
    const auto rates = rates_of(row, report.limits_of(row));
    std::vector<std::string> cells{std::string(name_of(row.mode)), fmt::format("{}", row.length)};
    if (sweep) cells.push_back(fmt::format("{}", row.threads));
    cells.insert(cells.end(), {duration(row.time.median), duration(row.time.min), duration(row.time.p90),
                               fmt::format("{:.1f} %", 100.0 * row.time.spread()), digits(rates.tokens_per_second),
                               digits(rates.flops_per_second / 1e9), digits(rates.bytes_per_second / 1e9),
                               rates.bound.by_memory ? "memory" : "products", percent(rates.share)});
    if (baseline != nullptr) cells.push_back(ratio_text(row, *baseline, "n/a"));
    cells.emplace_back(row.time.doubt.empty() ? "yes" : "noisy");
    table.add(std::move(cells));
  }
  return {"one step: token ids in, logits of the last position out",
          std::move(table),
          {"recompute runs all tokens, cached only the last one after kept ones; tokens/s are tokens run through the "
           "model.",
           "reached: the least time that the work needs on this machine, by the limit named, over the median."}};
}

Section comparison(const TimingReport& report) {
  TextTable table(
      {{"tokens", true}, {"threads", true}, {"recompute / cached", true}, {"largest logit difference", true}});
  for (const auto& one : report.comparisons)
    table.add({fmt::format("{}", one.length), fmt::format("{}", one.threads), fmt::format("{:.1f}", one.ratio),
               fmt::format("{:.1e}", one.largest_logit_difference)});
  return {"what keeping keys and values saves", std::move(table), {}};
}

/// "1.2 ms + 3.4 µs n + 5.6 ns n2"; terms of nothing are left out.
std::string formula(const Growth& growth) {
  std::vector<std::string> terms;
  if (growth.fixed > 0.0) terms.push_back(duration(growth.fixed));
  if (growth.per_token > 0.0) terms.push_back(fmt::format("{} n", duration(growth.per_token)));
  if (growth.per_square > 0.0) terms.push_back(fmt::format("{:.3g} µs n²", 1e6 * growth.per_square));
  return fmt::format("{}", fmt::join(terms, " + "));
}

Section growth(const TimingReport& report) {
  TextTable table({{"step"},
                   {"threads", true},
                   {"a step with n tokens in the text"},
                   {"off by at most", true},
                   {"generating", true},
                   {"takes in all", true}});
  for (const auto& one : report.growth)
    table.add({std::string(name_of(one.mode)), fmt::format("{}", one.threads), formula(one.growth),
               percent(one.growth.largest_deviation), count(one.tokens, "token"), duration(one.generation_seconds)});
  return {"how it grows with the text", std::move(table), {}};
}

/// The rows that stand side by side in one breakdown.
std::vector<const TimedRow*> rows_with_parts(const TimingReport& report, Mode mode, int threads) {
  std::vector<const TimedRow*> rows;
  for (const auto& row : report.rows)
    if (row.parts && row.mode == mode && row.threads == threads) rows.push_back(&row);
  return rows;
}

Section breakdown(const TimingReport& report, Mode mode, int threads) {
  const auto rows = rows_with_parts(report, mode, threads);
  std::vector<TextTable::Column> columns{{"part"}};
  for (const auto* row : rows)
    for (const auto& title : {count(row->length, "token"), std::string("share"), std::string("reached")})
      columns.push_back({title, true});
  TextTable table(columns);
  for (const auto part : all_parts) {
    std::vector<std::string> cells{std::string(name_of(part))};
    for (const auto* row : rows) {
      const auto rates = rates_of(*row, part, report.limits_of(*row));
      cells.insert(cells.end(), {duration(row->parts->seconds[part]),
                                 percent(row->parts->seconds[part] / row->parts->pass), percent(rates.share)});
    }
    table.add(std::move(cells));
  }
  std::vector<std::string> sum{"all parts"};
  std::vector<std::string> whole{"whole pass"};
  std::vector<std::string> asking{"cost of asking"};
  for (const auto* row : rows) {
    double seconds = 0.0;
    for (const auto part : row->parts->seconds.values) seconds += part;
    sum.insert(sum.end(), {duration(seconds), percent(seconds / row->parts->pass), ""});
    whole.insert(whole.end(), {duration(row->time.median), "", ""});
    asking.insert(asking.end(),
                  {fmt::format("{:+.1f} %", 100.0 * (row->parts->pass / row->time.median - 1.0)), "", ""});
  }
  for (auto* line : {&sum, &whole, &asking}) table.add(std::move(*line));
  return {fmt::format("where the time of a {} step goes, {}", name_of(mode), count(threads, "thread")),
          std::move(table),
          {}};
}

Section accuracy(const TimingReport& report) {
  const auto& found = *report.accuracy;
  TextTable table({{"tokens", true},
                   {"largest logit difference", true},
                   {"of logits up to", true},
                   {"KL, mean", true},
                   {"KL, largest", true},
                   {"same choice", true},
                   {"perplexity in f32", true},
                   {fmt::format("in {}", report.model.precision), true},
                   {"change", true}});
  table.add({grouped(found.tokens), fmt::format("{:.2g}", found.largest_logit_difference),
             fmt::format("{:.3g}", found.largest_logit), fmt::format("{:.2g} nats", found.mean_kl),
             fmt::format("{:.2g} nats", found.largest_kl), fmt::format("{:.1f} %", 100.0 * found.same_choice),
             fmt::format("{:.5g}", found.exact_perplexity), fmt::format("{:.5g}", found.perplexity),
             fmt::format("{:+.2g} %", 100.0 * (found.perplexity / found.exact_perplexity - 1.0))});
  return {fmt::format("what {} costs in accuracy: logits of every token against those in f32, {}",
                      report.model.precision, escape_controls(found.text)),
          std::move(table),
          {"KL: of the next token's distribution, sum of p log(p / q); same choice: the likeliest token is the same."}};
}

std::vector<Section> sections(const TimingReport& report, const Baseline* baseline) {
  std::vector<Section> all{steps(report, baseline)};
  for (const auto& limits : report.limits)
    for (const auto mode : {Mode::recompute, Mode::cached})
      if (!rows_with_parts(report, mode, limits.threads).empty())
        all.push_back(breakdown(report, mode, limits.threads));
  if (!report.comparisons.empty()) all.push_back(comparison(report));
  if (!report.growth.empty()) all.push_back(growth(report));
  if (report.accuracy) all.push_back(accuracy(report));
  return all;
}

}  // namespace

std::string timing_table(const TimingReport& report, const Baseline* baseline) {
  auto text = heading(report);
  for (const auto& section : sections(report, baseline)) {
    text += fmt::format("\n{}\n{}", section.title, section.table.text());
    for (const auto& note : section.notes) text += fmt::format("{}\n", note);
  }
  return text;
}

std::string timing_markdown(const TimingReport& report, const Baseline* baseline) {
  auto text = heading(report);
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 3)) text.insert(at, "  ");
  for (const auto& section : sections(report, baseline)) {
    text += fmt::format("\n{}:\n\n{}", section.title, section.table.markdown());
    for (const auto& note : section.notes) text += fmt::format("\n{}\n", note);
  }
  return text;
}

std::string timing_csv(const TimingReport& report, const Baseline* baseline) {
  std::string text =
      "mode,length,threads,part,median_s,min_s,p90_s,mad_s,noisy,tokens_per_s,flops,bytes,flops_per_s,bytes_per_s,"
      "limit,"
      "limit_s,share_of_limit,ratio_to_baseline\r\n";
  const auto work_fields = [](const Work& work, const Rates& rates) {
    return fmt::format("{},{},{},{},{},{},{},{}", rates.tokens_per_second, work.flops, work.bytes,
                       rates.flops_per_second, rates.bytes_per_second, rates.bound.by_memory ? "memory" : "products",
                       rates.bound.seconds, rates.share);
  };
  for (const auto& row : report.rows) {
    const auto& limits = report.limits_of(row);
    const auto begin = fmt::format("{},{},{}", name_of(row.mode), row.length, row.threads);
    text +=
        fmt::format("{},whole pass,{},{},{},{},{},{},{}\r\n", begin, row.time.median, row.time.min, row.time.p90,
                    row.time.mad, row.time.doubt.empty() ? 0 : 1, work_fields(total(row.work), rates_of(row, limits)),
                    baseline == nullptr ? "" : ratio_text(row, *baseline, ""));
    if (!row.parts) continue;
    for (const auto part : all_parts)
      text += fmt::format("{},{},{},,,,,{},\r\n", begin, name_of(part), row.parts->seconds[part],
                          work_fields(row.work[part], rates_of(row, part, limits)));
  }
  return text;
}

std::string timing_json(const TimingReport& report, const Baseline* baseline) {
  return to_json(report, baseline).dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string timing_jsonl(const TimingReport& report, const Baseline* baseline) {
  const auto line = [](const OrderedJson& object) {
    return object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  };
  auto whole = to_json(report, baseline);
  std::string text;
  for (const auto& row : whole["rows"]) text += line(row);
  whole.erase("rows");
  return text + line(whole);
}

}  // namespace qkv::app
