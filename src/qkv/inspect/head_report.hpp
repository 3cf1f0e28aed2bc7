#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/model/session.hpp"

namespace qkv {

/// What one head does with one text. Means are over the queries that have a choice, all but the first token. A share is
/// a sum of weights, 0 to 1; what has no meaning for the text (no token comes twice, say) is left out.
struct HeadMetrics {
  HeadId head;
  /// -sum of w log w over the keys, in nats: 0 looks at one token, log(t + 1) at all alike. Clark et al., "What Does
  /// BERT Look At?", 2019.
  std::optional<double> entropy;
  /// Share on the first token of the text, where heads with nothing to do often look. Xiao et al., "Efficient Streaming
  /// Language Models with Attention Sinks", 2023.
  std::optional<double> first;
  /// Share on the query's own token.
  std::optional<double> self;
  /// Share on the token before. Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021.
  std::optional<double> previous;
  /// Share on earlier copies of the query's token, over the queries that have one. Elhage et al. 2021.
  std::optional<double> copies;
  /// Share on the tokens that followed earlier copies, over the queries that have any: the prefix matching of Olsson et
  /// al., "In-context Learning and Induction Heads", 2022. A copy right before the query does not count.
  std::optional<double> induction;
  /// Mean of (query position - key position), in tokens, each key by its weight.
  std::optional<double> distance;
  /// The largest single weight, and where.
  double largest = 0.0;
  std::int64_t largest_query = -1;
  std::int64_t largest_key = -1;
};

/// The metrics that are plain numbers, by name, in the order of the report.
struct MetricColumn {
  std::string_view name;
  std::optional<double> (*value)(const HeadMetrics& metrics);
};
inline constexpr std::size_t metric_count = 8;
[[nodiscard]] const std::array<MetricColumn, metric_count>& metric_columns();

/// Runs the tokens and measures every head, layer by layer. Throws Error{numbers} when the logits are not finite.
[[nodiscard]] std::vector<HeadMetrics> measure_heads(Session& session, std::span<const TokenId> ids);

}  // namespace qkv
