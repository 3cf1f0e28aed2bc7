#include "qkv/inspect/writers/picture_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/draw/printable.hpp"
#include "qkv/inspect/writers/picture_labels.hpp"

namespace qkv::picture {
namespace {

constexpr Color frame_color{150, 150, 158};
constexpr std::int64_t most_rectangles = 4096;
constexpr int spaced_cell = 16;  // cells of this size stand apart by a pixel

/// "query 11 (it), key 4 (ball): 0.53", the number exactly.
std::string cell_note(const TableDescription& table, std::int64_t row, std::int64_t column, float value) {
  const auto part = [&](const Axis& axis, std::int64_t entry) {
    const auto number = axis.values[static_cast<std::size_t>(entry)];
    if (!labelled_by_tokens(axis)) return fmt::format("{} {}", axis.name, number);
    return fmt::format("{} {} ({})", axis.name, number, entry_label(table, axis, entry, 40));
  };
  return fmt::format("{}, {}: {}", part(row_axis(table), row), part(column_axis(table), column), value);
}

/// Whether the query of this row may not see the key of this column.
bool is_masked(const TableDescription& table, std::int64_t row, std::int64_t column) {
  return table.causal && column_axis(table).values[static_cast<std::size_t>(column)] >
                             row_axis(table).values[static_cast<std::size_t>(row)];
}

void draw_value(draw::Canvas& canvas, const draw::Box& cell, float value, Color background) {
  const auto text = short_number(value);
  constexpr double size = 11;
  const auto width = draw::text_width(text, size);
  const auto fitting = std::min(1.0, (cell.width - 6) / width);
  canvas.text({cell.x + cell.width / 2, cell.y + cell.height / 2}, text,
              {.size = size * fitting, .color = readable_on(background), .anchor = draw::Anchor::middle});
}

void draw_cells(draw::Canvas& canvas, const Picture& picture, const draw::Box& map, const Raster& raster) {
  const auto& down = picture.layout.down;
  const auto& across = picture.layout.across;
  const auto spaced = [](const Cells& cells) { return cells.size - (cells.size >= spaced_cell ? 1 : 0); };
  for (std::int64_t row = 0; row < down.bins(); ++row)
    for (std::int64_t column = 0; column < across.bins(); ++column) {
      const auto value = raster.at(row, column);
      const draw::Box cell{map.x + static_cast<double>(column * across.size),
                           map.y + static_cast<double>(row * down.size), static_cast<double>(spaced(across)),
                           static_cast<double>(spaced(down))};
      if (is_masked(picture.table, row, column)) continue;  // the paper stays
      const auto color = picture.scale(value);
      canvas.fill(cell, color, cell_note(picture.table, row, column, value));
      if (picture.layout.values) draw_value(canvas, cell, value, color);
    }
}

draw::Pixels colored(const PictureLayout& layout, const Raster& raster, const ColorScale& scale) {
  draw::Pixels pixels{static_cast<int>(layout.across.bins()), static_cast<int>(layout.down.bins()), {}};
  pixels.colors.reserve(raster.bins().size());
  for (const auto value : raster.bins()) pixels.colors.push_back(scale(value));
  return pixels;
}

std::string planned_label(const TableDescription& table, const Axis& axis, std::int64_t entry, const LabelPlan& plan) {
  auto label = entry_label(table, axis, entry, plan.columns);
  if (!plan.numbered) return label;
  return fmt::format("{} {}", axis.values[static_cast<std::size_t>(entry)], label);
}

void draw_row_labels(draw::Canvas& canvas, const Picture& picture, const draw::Box& map) {
  const auto& plan = picture.layout.row_labels;
  const auto& cells = picture.layout.down;
  for (std::int64_t entry = 0; entry < cells.entries; entry += plan.step) {
    const auto y = map.y + cells.center(entry);
    if (plan.step > 1) canvas.fill({map.x - 6, std::floor(y), 4, 1}, frame_color);
    canvas.text({map.x - plan.distance, y}, planned_label(picture.table, row_axis(picture.table), entry, plan),
                {.size = plan.size, .anchor = draw::Anchor::end});
  }
}

void draw_column_labels(draw::Canvas& canvas, const Picture& picture, const draw::Box& map) {
  const auto& plan = picture.layout.column_labels;
  const auto& cells = picture.layout.across;
  for (std::int64_t entry = 0; entry < cells.entries; entry += plan.step) {
    const auto x = map.x + cells.center(entry);
    if (plan.step > 1) canvas.fill({std::floor(x), map.y - 6, 1, 4}, frame_color);
    canvas.text({x, map.y - plan.distance}, planned_label(picture.table, column_axis(picture.table), entry, plan),
                {.size = plan.size, .angle = plan.angle});
  }
}

/// In a crowded grid: which layer a line is, and which head a column.
void draw_grid_numbers(draw::Canvas& canvas, const Picture& picture) {
  const auto& layout = picture.layout;
  const auto name = [](const Axis& axis, std::int64_t entry) {
    return fmt::format("{} {}", axis.name, axis.values[static_cast<std::size_t>(entry)]);
  };
  const auto pitch = layout.across.extent() + layout.gap_across;
  const auto step = (13 + pitch - 1) / pitch;
  for (std::int64_t line = 0; line < layout.grid_lines(); ++line) {
    const auto map = layout.map(line * layout.grid_columns);
    canvas.text({map.x - 6, map.y + map.height / 2}, name(picture.table.axes[0], line), {.anchor = draw::Anchor::end});
  }
  for (std::int64_t column = 0; column < layout.grid_columns; column += step) {
    const auto map = layout.map(column);
    canvas.text({map.x + map.width / 2, map.y - 6}, name(picture.table.axes[1], column), {.angle = 90});
  }
}

void draw_labels(draw::Canvas& canvas, const Picture& picture) {
  const auto& layout = picture.layout;
  if (layout.captions == Captions::margins) {
    draw_grid_numbers(canvas, picture);
    return;
  }
  for (std::int64_t line = 0; line < layout.grid_lines(); ++line)
    draw_row_labels(canvas, picture, layout.map(line * layout.grid_columns));
  for (std::int64_t column = 0; column < std::min(layout.grid_columns, layout.maps); ++column)
    draw_column_labels(canvas, picture, layout.map(column));
}

void draw_titles(draw::Canvas& canvas, const Picture& picture) {
  constexpr double left = 16;
  const auto& layout = picture.layout;
  canvas.text({left, 27}, layout.title, {.size = 16, .bold = true});
  canvas.text({left, 50}, layout.subtitle, {.color = quiet_ink});
  const auto top = layout.top - layout.column_labels.depth - 12;
  canvas.text({static_cast<double>(layout.left), top}, axis_title(column_axis(picture.table)),
              {.size = 12, .bold = true});
  // Near the upper left corner, also where the table is long.
  const auto middle = layout.top + std::min(layout.grid_height(), 320) / 2;
  canvas.text({left + 6, static_cast<double>(middle)}, axis_title(row_axis(picture.table)),
              {.size = 12, .bold = true, .anchor = draw::Anchor::middle, .angle = 90});
  for (std::size_t i = 0; i < layout.notes.size(); ++i)
    canvas.text({left, layout.notes_top + 16 * static_cast<double>(i)}, layout.notes[i], {.color = quiet_ink});
}

void draw_legend(draw::Canvas& canvas, const Picture& picture) {
  const auto& bar = picture.layout.legend;
  const auto& scale = picture.scale;
  const bool linear = scale.mapping() == ColorScale::Mapping::linear;
  canvas.text({bar.x, bar.y - 30}, draw::printable_text(picture.table.what, 16), {.size = 12, .bold = true});
  canvas.text({bar.x, bar.y - 14}, linear ? "linear scale" : "log scale", {.color = quiet_ink});

  draw::Pixels pixels{1, static_cast<int>(bar.height), {}};
  for (int y = 0; y < pixels.height; ++y) pixels.colors.push_back(scale.at(1 - (y + 0.5) / pixels.height));
  canvas.image(bar, pixels);
  canvas.frame(bar, frame_color);
  for (const auto& tick : scale.ticks()) {
    const auto y = bar.y + bar.height * (1 - tick.position);
    canvas.fill({bar.x + bar.width + 1, std::floor(std::min(y, bar.y + bar.height - 1)), 4, 1}, frame_color);
    canvas.text({bar.x + bar.width + 9, y}, tick.label, {});
  }
  if (!picture.table.causal) return;
  const draw::Box swatch{bar.x, bar.y + bar.height + 16, bar.width, 14};
  canvas.frame(swatch, frame_color);
  canvas.text({swatch.x + swatch.width + 9, swatch.y + 7}, "not seen", {});
}

}  // namespace

bool drawn_as_rectangles(const PictureLayout& layout) {
  return layout.down.merge == 1 && layout.across.merge == 1 &&
         layout.maps * layout.down.bins() * layout.across.bins() <= most_rectangles;
}

void draw_surroundings(draw::Canvas& canvas, const Picture& picture) {
  draw_titles(canvas, picture);
  draw_labels(canvas, picture);
  draw_legend(canvas, picture);
}

void draw_map(draw::Canvas& canvas, const Picture& picture, std::int64_t index, const Raster& raster) {
  const auto& layout = picture.layout;
  const auto map = layout.map(index);
  if (drawn_as_rectangles(layout))
    draw_cells(canvas, picture, map, raster);
  else
    canvas.image(map, colored(layout, raster, picture.scale));
  canvas.frame(map, frame_color);
  if (layout.captions == Captions::full || layout.captions == Captions::brief)
    canvas.text({map.x + map.width / 2, map.y + map.height + 11}, caption(picture.table, index, layout.captions),
                {.color = quiet_ink, .anchor = draw::Anchor::middle});
}

}  // namespace qkv::picture
