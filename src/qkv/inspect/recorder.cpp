#include "qkv/inspect/recorder.hpp"

#include <algorithm>
#include <limits>

namespace qkv {
namespace {

/// What stands in a cell of `scores` that the query may not see; in `weights` it is the 0 that the softmax wrote.
constexpr float masked_score = std::numeric_limits<float>::quiet_NaN();

bool is_table(Place place) { return place == Place::scores || place == Place::weights; }

}  // namespace

Recorder::Recorder(const InspectRequest& request, const Config& config, std::int64_t n,
                   std::span<const std::int64_t> layers, TableWriter& writer)
    : request_(request),
      n_(n),
      width_(axes_of(request, config, n).back().extent()),
      layers_(layers.begin(), layers.end()),
      slots_(static_cast<std::size_t>(config.attention.n_heads), -1),
      writer_(writer) {
  for (std::size_t slot = 0; slot < request.heads.size(); ++slot)
    slots_[static_cast<std::size_t>(request.heads[slot])] = static_cast<std::int64_t>(slot);
  if (has_heads(request.place)) held_ = Buffer(static_cast<std::int64_t>(request.heads.size()) * n * width_);
}

void Recorder::observe(const Observation& seen) {
  if (has_layers(request_.place) && !std::binary_search(layers_.begin(), layers_.end(), seen.layer)) return;
  if (!has_heads(request_.place)) {  // rows come as they are written
    for (std::int64_t row = 0; row < seen.values.rows; ++row) writer_.row(seen.values.row(row));
    return;
  }
  if (seen.layer != layer_) write_layer();
  layer_ = seen.layer;
  if (is_table(request_.place))
    keep_table(seen);
  else
    keep_heads(seen);
}

float* Recorder::kept_row(std::int64_t slot, std::int64_t position) {
  return held_.data() + (slot * n_ + position) * width_;
}

std::int64_t Recorder::slot_of(std::int64_t head) const { return slots_[static_cast<std::size_t>(head)]; }

/// A tile of one head's table: its rows reach as far as the last query of the tile may see.
void Recorder::keep_table(const Observation& seen) {
  const auto slot = slot_of(seen.head);
  if (slot < 0) return;
  const auto masked = request_.place == Place::scores ? masked_score : 0.0F;
  for (std::int64_t row = 0; row < seen.values.rows; ++row) {
    const auto visible = seen.values.row(row).first(static_cast<std::size_t>(seen.visible(row)));
    auto* to = kept_row(slot, seen.first + row);
    std::fill(std::copy(visible.begin(), visible.end(), to), to + width_, masked);
  }
}

/// All heads side by side, cut apart.
void Recorder::keep_heads(const Observation& seen) {
  for (std::int64_t head = 0; head * width_ < seen.values.cols; ++head) {
    const auto slot = slot_of(head);
    if (slot < 0) continue;
    const auto slice = seen.values.columns(head * width_, width_);
    for (std::int64_t row = 0; row < slice.rows; ++row) {
      const auto numbers = slice.row(row);
      std::copy(numbers.begin(), numbers.end(), kept_row(slot, seen.first + row));
    }
  }
}

void Recorder::write_layer() {
  if (layer_ < 0) return;
  const auto width = static_cast<std::size_t>(width_);
  for (std::int64_t slot = 0; slot < static_cast<std::int64_t>(request_.heads.size()); ++slot)
    for (std::int64_t position = 0; position < n_; ++position) writer_.row({kept_row(slot, position), width});
}

void Recorder::finish() {
  if (has_heads(request_.place)) write_layer();
}

void inspect(Session& session, std::span<const TokenId> ids, const InspectRequest& request,
             const TableDescription& description, TableWriter& writer) {
  const auto run = [&](std::span<const std::int64_t> layers) {
    session.rewind(0);
    Recorder recorder(request, session.model().config(), static_cast<std::int64_t>(ids.size()), layers, writer);
    session.forward(ids, request.place == Place::logits ? Rows::all : Rows::last, &recorder);
    recorder.finish();
  };
  writer.begin(description);
  if (request.layers.empty()) run({});
  for (auto first = request.layers.begin(); first != request.layers.end();) {
    const auto last = std::is_sorted_until(first, request.layers.end());
    run({first, last});
    first = last;
  }
  writer.end();
}

}  // namespace qkv
