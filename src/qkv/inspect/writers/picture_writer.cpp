#include "qkv/inspect/writers/picture_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/draw/canvas.hpp"
#include "qkv/inspect/color_scale.hpp"
#include "qkv/inspect/writers/picture_drawing.hpp"
#include "qkv/inspect/writers/picture_layout.hpp"
#include "qkv/inspect/writers/picture_raster.hpp"

namespace qkv {
namespace {

/// What the colour scale has to cover: NaN and infinities do not count.
class Range {
 public:
  void add(std::span<const float> numbers) {
    for (const auto number : numbers) {
      if (!std::isfinite(number)) continue;
      largest_ = std::max(largest_, std::abs(number));
      negative_ = negative_ || number < 0;
    }
  }
  [[nodiscard]] float largest() const { return largest_; }
  [[nodiscard]] bool negative() const { return negative_; }

 private:
  float largest_ = 0;
  bool negative_ = false;
};

/// Weights are shares: their scale is 0 to 1 in every picture, so that pictures can be compared.
ColorScale scale_for(const TableDescription& table, const Range& range, bool logarithmic) {
  const auto mapping = logarithmic ? ColorScale::Mapping::logarithmic : ColorScale::Mapping::linear;
  if (table.what == "weights") return {ColorScale::Kind::sequential, mapping, 1};
  return {range.negative() ? ColorScale::Kind::diverging : ColorScale::Kind::sequential, mapping, range.largest()};
}

class PictureWriter : public TableWriter {
 public:
  PictureWriter(Sink& sink, PictureFormat format, const PictureOptions& options)
      : sink_(sink), format_(format), options_(options) {}

  void begin(const TableDescription& description) override {
    table_ = description;
    layout_ = picture::lay_out(table_, options_);
    rasters_.clear();
    rows_ = 0;
    range_ = {};
  }

  void row(std::span<const float> numbers) override {
    const auto map = rows_ / layout_.down.entries;
    const auto row = rows_ % layout_.down.entries;
    if (map >= layout_.maps || static_cast<std::int64_t>(numbers.size()) != layout_.across.entries)
      throw Error(ErrorCode::failed, fmt::format("picture: expected {} rows of {} numbers, found row {} with {}",
                                                 expected_rows(), layout_.across.entries, rows_ + 1, numbers.size()));
    if (row == 0) rasters_.emplace_back(layout_.down, layout_.across);
    ++rows_;
    if (table_.causal) numbers = only_seen(row, numbers);
    range_.add(numbers);
    rasters_.back().add(row, numbers);
  }

  void end() override {
    if (rows_ != expected_rows())
      throw Error(ErrorCode::failed, fmt::format("picture: expected {} rows, found {}", expected_rows(), rows_));
    const auto scale = scale_for(table_, range_, options_.log_scale);
    const picture::Picture what{table_, layout_, scale};
    const draw::Page page{layout_.width, layout_.height, layout_.title};
    const auto canvas = draw::open_canvas(sink_, format_, page, picture::png_scale(layout_));
    picture::draw_surroundings(*canvas, what);
    for (std::int64_t map = 0; map < layout_.maps; ++map) {
      auto& raster = rasters_[static_cast<std::size_t>(map)];
      picture::draw_map(*canvas, what, map, raster);
      raster = {};
    }
    canvas->finish();
  }

 private:
  [[nodiscard]] std::int64_t expected_rows() const { return layout_.maps * layout_.down.entries; }

  /// The row with NaN in the cells that its query may not see: in `weights` they come as 0, like a weight that is 0.
  std::span<const float> only_seen(std::int64_t row, std::span<const float> numbers) {
    const auto query = picture::row_axis(table_).values[static_cast<std::size_t>(row)];
    const auto& keys = picture::column_axis(table_).values;
    seen_.assign(numbers.begin(), numbers.end());
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (keys[i] > query) seen_[i] = std::numeric_limits<float>::quiet_NaN();
    return seen_;
  }

  Sink& sink_;
  PictureFormat format_;
  PictureOptions options_;
  TableDescription table_;
  picture::PictureLayout layout_;
  std::vector<picture::Raster> rasters_;  // together never more cells than the picture has pixels
  std::vector<float> seen_;
  std::int64_t rows_ = 0;
  Range range_;
};

}  // namespace

std::unique_ptr<TableWriter> picture_writer(Sink& sink, PictureFormat format, const PictureOptions& options) {
  return std::make_unique<PictureWriter>(sink, format, options);
}

}  // namespace qkv
