#include "qkv/inspect/recorder.hpp"

#include <algorithm>
#include <cmath>
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
      heads_(static_cast<std::int64_t>(request.heads.size())),
      layers_(layers.begin(), layers.end()),
      slots_(static_cast<std::size_t>(config.attention.n_heads), -1),
      writer_(writer),
      in_order_(std::is_sorted(request.heads.begin(), request.heads.end())) {
  for (std::int64_t slot = 0; slot < heads_; ++slot)
    slots_[static_cast<std::size_t>(request.heads[static_cast<std::size_t>(slot)])] = slot;
  if (!is_table(request.place)) return;
  row_.resize(static_cast<std::size_t>(n));
  if (!in_order_) held_ = Buffer(heads_ * n * n);
}

void Recorder::observe(const Observation& seen) {
  if (has_layers(request_.place) && !std::binary_search(layers_.begin(), layers_.end(), seen.layer)) return;
  if (is_table(request_.place))
    take_table(seen);
  else if (has_heads(request_.place))
    take_heads(seen);
  else
    for (std::int64_t row = 0; row < seen.values.rows; ++row) writer_.row(seen.values.row(row));
}

/// A tile of one head's table: its rows reach as far as the last query of the tile may see.
void Recorder::take_table(const Observation& seen) {
  const auto slot = slots_[static_cast<std::size_t>(seen.head)];
  if (slot < 0) return;
  if (seen.layer != layer_) write_held();
  layer_ = seen.layer;
  const auto masked = request_.place == Place::scores ? masked_score : 0.0F;
  for (std::int64_t row = 0; row < seen.values.rows; ++row) {
    const auto visible = seen.values.row(row).first(static_cast<std::size_t>(seen.visible(row)));
    std::fill(std::copy(visible.begin(), visible.end(), row_.begin()), row_.end(), masked);
    std::fill_n(row_.begin(), seen.first_visible(row), masked);
    if (in_order_)
      writer_.row(row_);
    else
      std::copy(row_.begin(), row_.end(), held(slot).row(seen.first + row).begin());
  }
}

/// All heads side by side, cut apart.
void Recorder::take_heads(const Observation& seen) {
  for (const auto head : request_.heads) {
    const auto slice = seen.values.columns(head * width_, width_);
    for (std::int64_t row = 0; row < slice.rows; ++row) writer_.row(slice.row(row));
  }
}

void Recorder::write_held() {
  if (in_order_ || layer_ < 0) return;
  for (std::int64_t slot = 0; slot < heads_; ++slot)
    for (std::int64_t position = 0; position < n_; ++position) writer_.row(held(slot).row(position));
}

void Recorder::finish() { write_held(); }

bool inspect(Session& session, std::span<const TokenId> ids, const InspectRequest& request,
             const TableDescription& description, TableWriter& writer) {
  bool finite = true;
  const auto run = [&](std::span<const std::int64_t> layers) {
    session.rewind(0);
    Recorder recorder(request, session.model().config(), static_cast<std::int64_t>(ids.size()), layers, writer);
    const auto logits = session.forward(
        ids, request.place == Place::logits || request.place == Place::final_norm ? Rows::all : Rows::last, &recorder);
    recorder.finish();
    const auto last = logits.row(logits.rows - 1);
    finite = std::all_of(last.begin(), last.end(), [](float logit) { return std::isfinite(logit); });
  };
  writer.begin(description);
  if (request.layers.empty()) run({});
  for (auto first = request.layers.begin(); first != request.layers.end();) {
    const auto last = std::is_sorted_until(first, request.layers.end());
    run({first, last});
    first = last;
  }
  writer.end();
  return finite;
}

}  // namespace qkv
