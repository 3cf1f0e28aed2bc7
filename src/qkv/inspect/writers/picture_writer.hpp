#pragma once

#include <memory>

#include "qkv/draw/picture_format.hpp"
#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {

struct PictureOptions {
  bool log_scale = false;  // equal ratios, not equal differences, are equal steps of colour
  int min_cell = 1;        // sides of a cell in pixels: where cells of min_cell do not fit, neighbours share one,
  int max_cell = 52;       // and its colour shows the largest magnitude among them
};

/// Draws a table of numbers. Its last two axes are the rows and columns of a heat map with labels, axis names and a
/// colour bar; one map for each entry of the axes before them (at most two: layers below each other, heads side by
/// side, or in lines when there is only one of either). The picture is at most about 4000 pixels wide and high.
///
/// Each map is reduced to the resolution of the picture while its rows come, so memory does not depend on how many
/// tables there are or how long they are. Everything is written to `sink` by end(). begin() throws Error{usage} for a
/// table that cannot be a picture: fewer than two axes or more than four, no entries, or too many maps.
[[nodiscard]] std::unique_ptr<TableWriter> picture_writer(Sink& sink, PictureFormat format,
                                                          const PictureOptions& options = {});

}  // namespace qkv
