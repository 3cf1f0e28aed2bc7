#include "qkv/inspect/head_report.hpp"

#include <cmath>

#include "qkv/model/finite_check.hpp"

namespace qkv {
namespace {

/// A mean that knows whether it has one.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0.0;
  std::int64_t count_ = 0;
};

struct Sums {
  Mean entropy, first, self, previous, copies, induction, distance;
  double largest = 0.0;
  std::int64_t largest_query = -1;
  std::int64_t largest_key = -1;
};

class HeadMeter : public Observer {
 public:
  HeadMeter(const Config& config, std::span<const TokenId> ids)
      : n_heads_(config.attention.n_heads),
        ids_(ids),
        sums_(static_cast<std::size_t>(config.n_layers * config.attention.n_heads)) {}

  [[nodiscard]] Places wanted() const override { return static_cast<Places>(Place::weights); }

  void observe(const Observation& seen) override {
    auto& sums = sums_[static_cast<std::size_t>(seen.layer * n_heads_ + seen.head)];
    for (std::int64_t row = 0; row < seen.values.rows; ++row) {
      const auto query = seen.first + row;
      if (query > 0) add_row(sums, query, seen.values.row(row).first(static_cast<std::size_t>(query + 1)));
    }
  }

  [[nodiscard]] std::vector<HeadMetrics> metrics() const {
    std::vector<HeadMetrics> all;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const auto& s = sums_[i];
      const auto number = static_cast<std::int64_t>(i);
      all.push_back({{number / n_heads_, number % n_heads_},
                     s.entropy.value(),
                     s.first.value(),
                     s.self.value(),
                     s.previous.value(),
                     s.copies.value(),
                     s.induction.value(),
                     s.distance.value(),
                     s.largest,
                     s.largest_query,
                     s.largest_key});
    }
    return all;
  }

 private:
  /// `weights`: those of one query, over keys 0 .. query.
  void add_row(Sums& sums, std::int64_t query, std::span<const float> weights) {
    double entropy = 0.0;
    double distance = 0.0;
    for (std::size_t key = 0; key < weights.size(); ++key) {
      const double w = weights[key];
      if (w > 0.0) entropy -= w * std::log(w);
      distance += w * static_cast<double>(query - static_cast<std::int64_t>(key));
      if (w > sums.largest) {
        sums.largest = w;
        sums.largest_query = query;
        sums.largest_key = static_cast<std::int64_t>(key);
      }
    }
    sums.entropy.add(entropy);
    sums.distance.add(distance);
    sums.first.add(weights.front());
    sums.self.add(weights.back());
    sums.previous.add(weights[weights.size() - 2]);
    add_copies(sums, query, weights);
  }

  void add_copies(Sums& sums, std::int64_t query, std::span<const float> weights) {
    const auto token = ids_[static_cast<std::size_t>(query)];
    double copies = 0.0;
    double followers = 0.0;
    bool has_copy = false;
    bool has_follower = false;
    for (std::size_t key = 0; key + 1 < weights.size(); ++key) {
      if (ids_[key] != token) continue;
      has_copy = true;
      copies += weights[key];
      if (key + 2 == weights.size()) continue;  // what follows this copy is the query itself
      has_follower = true;
      followers += weights[key + 1];
    }
    if (has_copy) sums.copies.add(copies);
    if (has_follower) sums.induction.add(followers);
  }

  std::int64_t n_heads_;
  std::span<const TokenId> ids_;
  std::vector<Sums> sums_;
};

}  // namespace

const std::array<MetricColumn, metric_count>& metric_columns() {
  static const std::array<MetricColumn, metric_count> columns{
      {{"entropy", [](const HeadMetrics& m) { return m.entropy; }},
       {"first", [](const HeadMetrics& m) { return m.first; }},
       {"self", [](const HeadMetrics& m) { return m.self; }},
       {"previous", [](const HeadMetrics& m) { return m.previous; }},
       {"copies", [](const HeadMetrics& m) { return m.copies; }},
       {"induction", [](const HeadMetrics& m) { return m.induction; }},
       {"distance", [](const HeadMetrics& m) { return m.distance; }},
       {"largest",
        [](const HeadMetrics& m) { return m.largest_query < 0 ? std::nullopt : std::optional(m.largest); }}}};
  return columns;
}

std::vector<HeadMetrics> measure_heads(Session& session, std::span<const TokenId> ids) {
  HeadMeter meter(session.model().config(), ids);
  session.rewind(0);
  const auto logits = session.forward(ids, Rows::last, &meter).row(0);
  require_finite(logits, session, ids);
  return meter.metrics();
}

}  // namespace qkv
