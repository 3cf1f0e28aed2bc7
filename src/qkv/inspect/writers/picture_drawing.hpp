#pragma once

#include <cstdint>

#include "qkv/draw/canvas.hpp"
#include "qkv/inspect/color_scale.hpp"
#include "qkv/inspect/table.hpp"
#include "qkv/inspect/writers/picture_layout.hpp"
#include "qkv/inspect/writers/picture_raster.hpp"

namespace qkv::picture {

/// Everything about a picture but its numbers.
struct Picture {
  const TableDescription& table;
  const PictureLayout& layout;
  const ColorScale& scale;
};

/// Title, axis names, labels, notes and colour bar.
void draw_surroundings(draw::Canvas& canvas, const Picture& picture);

/// One map with its frame and caption: rectangles, one a cell, as long as there are not too many in the picture, else
/// an image.
void draw_map(draw::Canvas& canvas, const Picture& picture, std::int64_t index, const Raster& raster);

/// Whether each cell of the picture is a rectangle of its own.
[[nodiscard]] bool drawn_as_rectangles(const PictureLayout& layout);

}  // namespace qkv::picture
