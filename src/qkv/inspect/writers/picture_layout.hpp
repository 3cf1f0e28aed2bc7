#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/draw/canvas.hpp"
#include "qkv/inspect/table.hpp"
#include "qkv/inspect/writers/picture_raster.hpp"
#include "qkv/inspect/writers/picture_writer.hpp"

namespace qkv::picture {

/// Which entries of a side are labelled, and how.
struct LabelPlan {
  std::int64_t step = 0;     // every how many entries; 0: none
  double size = 11;          // of the letters
  double angle = 0;          // degrees
  std::size_t columns = 18;  // what is longer is cut
  bool numbered = false;     // thinned labels say which entry they belong to
  double distance = 0;       // pixels from the table to its labels
  double depth = 0;          // pixels that the labels take beside the table, with the distance
  double overhang = 0;       // pixels that slanted labels reach beyond its end
};

/// How the maps of a grid say which they are: "layer 3 head 0" or "L3 H0" below each; or, when maps are too small for
/// that, numbers beside the lines and above the columns of the grid. A single map is named in the title.
enum class Captions { title, full, brief, margins };

/// Where everything stands in the picture, in pixels.
struct PictureLayout {
  Cells down;                     // the rows of a map
  Cells across;                   // its columns
  std::int64_t maps = 1;          // in the order in which the tables come
  std::int64_t grid_columns = 1;  // maps side by side
  Captions captions = Captions::title;
  bool values = false;  // the numbers are written into the cells
  LabelPlan row_labels;
  LabelPlan column_labels;
  int left = 0;  // the upper left corner of the first map
  int top = 0;
  int gap_across = 0;
  int gap_down = 0;
  draw::Box legend{};  // the colour bar
  std::string title;
  std::string subtitle;
  std::vector<std::string> notes;
  double notes_top = 0;
  int width = 0;
  int height = 0;

  [[nodiscard]] std::int64_t grid_lines() const { return (maps + grid_columns - 1) / grid_columns; }
  /// The cells of map `index`, without its frame.
  [[nodiscard]] draw::Box map(std::int64_t index) const;
  [[nodiscard]] int grid_width() const;
  [[nodiscard]] int grid_height() const;
};

/// Throws Error{usage} where the table cannot be drawn: see picture_writer().
[[nodiscard]] PictureLayout lay_out(const TableDescription& table, const PictureOptions& options);

/// What map `index` is called in a caption: "layer 3 head 0" or "L3 H0".
[[nodiscard]] std::string caption(const TableDescription& table, std::int64_t index, Captions style);

/// The rows and the columns of each map: the last two axes.
[[nodiscard]] const Axis& row_axis(const TableDescription& table);
[[nodiscard]] const Axis& column_axis(const TableDescription& table);

/// Device pixels a pixel in a PNG: small pictures are made sharper.
[[nodiscard]] int png_scale(const PictureLayout& layout);

}  // namespace qkv::picture
