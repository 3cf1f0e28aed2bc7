#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/inspect/request.hpp"
#include "qkv/inspect/table.hpp"
#include "qkv/model/session.hpp"

namespace qkv {

/// Passes on what was asked for, and nothing else, to a writer as the forward pass comes by. It holds one layer at most:
/// a layer's rows are written when the next one begins.
class Recorder : public Observer {
 public:
  /// `layers`: those of the resolved request that this pass shows, ascending.
  Recorder(const InspectRequest& request, const Config& config, std::int64_t n, std::span<const std::int64_t> layers,
           TableWriter& writer);

  [[nodiscard]] Places wanted() const override { return static_cast<Places>(request_.place); }
  void observe(const Observation& seen) override;
  /// After the pass: the rows of the last layer.
  void finish();

 private:
  void keep_table(const Observation& seen);
  void keep_heads(const Observation& seen);
  void write_layer();
  [[nodiscard]] std::int64_t slot_of(std::int64_t head) const;
  [[nodiscard]] float* kept_row(std::int64_t slot, std::int64_t position);

  const InspectRequest& request_;
  std::int64_t n_;
  std::int64_t width_;  // of a row
  std::vector<std::int64_t> layers_;
  std::vector<std::int64_t> slots_;  // per head: its place among the chosen ones, or -1
  TableWriter& writer_;
  std::int64_t layer_ = -1;  // whose rows are held
  Buffer held_;              // [chosen heads, n, width]
};

/// Runs the tokens through the session, from the start, and writes what was asked for: begin, every row, end. Layers in
/// an order that is not ascending take one pass for each ascending run. `request` must be resolved.
void inspect(Session& session, std::span<const TokenId> ids, const InspectRequest& request,
             const TableDescription& description, TableWriter& writer);

}  // namespace qkv
