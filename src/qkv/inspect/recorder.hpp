#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/inspect/request.hpp"
#include "qkv/inspect/table.hpp"
#include "qkv/model/session.hpp"

namespace qkv {

/// Passes on what was asked for, and nothing else, to a writer as the forward pass comes by. Rows go out as they come;
/// only tables of heads that are wanted out of order are held, a layer at most.
class Recorder : public Observer {
 public:
  /// `layers`: those of the resolved request that this pass shows, ascending.
  Recorder(const InspectRequest& request, const Config& config, std::int64_t n, std::span<const std::int64_t> layers,
           TableWriter& writer);

  [[nodiscard]] Places wanted() const override { return static_cast<Places>(request_.place); }
  void observe(const Observation& seen) override;
  /// After the pass: what is still held.
  void finish();

 private:
  void take_table(const Observation& seen);
  void take_heads(const Observation& seen);
  void write_held();
  [[nodiscard]] MatrixView held(std::int64_t slot) const {
    return held_.view(n_ * heads_, n_).rows_window(slot * n_, n_);
  }

  const InspectRequest& request_;
  std::int64_t n_;
  std::int64_t width_;  // of a row
  std::int64_t heads_;  // chosen
  std::vector<std::int64_t> layers_;
  std::vector<std::int64_t> slots_;  // per head: its place among the chosen ones, or -1
  TableWriter& writer_;
  bool in_order_;            // heads come as they are written
  std::vector<float> row_;   // of a table, as wide as the text
  std::int64_t layer_ = -1;  // whose tables are held
  Buffer held_;              // [chosen heads, n, n]
};

/// Runs the tokens through the session, from the start, and writes what was asked for: begin, every row, end. Layers in
/// an order that is not ascending take one pass for each ascending run. `request` must be resolved.
/// Numbers that are not finite are written like any other; returns whether those of the last logits are.
bool inspect(Session& session, std::span<const TokenId> ids, const InspectRequest& request,
             const TableDescription& description, TableWriter& writer);

}  // namespace qkv
