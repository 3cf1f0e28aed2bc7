#include "qkv/inspect/writers/picture_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <ranges>

#include "qkv/core/error.hpp"
#include "qkv/draw/printable.hpp"
#include "qkv/inspect/writers/picture_labels.hpp"

namespace qkv::picture {
namespace {

constexpr int margin = 16;
constexpr int table_budget = 3560;   // for the maps of a picture, each way: with labels and legend about 4000
constexpr int legend_width = 140;    // the bar and its numbers
constexpr int least_map = 8;         // a smaller map shows nothing
constexpr int label_pitch = 13;      // labels closer than this cannot be read
constexpr std::int64_t valued = 16;  // up to so many entries each way, cells are large enough to write in
constexpr int plain_cell = 28;       // the largest cell without a number in it
constexpr int caption_height = 18;
constexpr double caption_size = 11;

std::span<const Axis> outer_axes(const TableDescription& table) {
  return std::span(table.axes).first(table.axes.size() - 2);
}

void require_drawable(const TableDescription& table, const PictureOptions& options) {
  if (options.min_cell < 1 || options.max_cell < options.min_cell || options.max_cell > 200)
    throw Error(
        ErrorCode::usage,
        fmt::format("picture: expected cells of 1 to 200 pixels, the smallest before the largest, found {} and {}",
                    options.min_cell, options.max_cell));
  if (table.axes.size() < 2 || table.axes.size() > 4)
    throw Error(ErrorCode::usage,
                fmt::format("picture of '{}': expected two to four axes, found {}", table.what, table.axes.size()));
  for (const auto& axis : table.axes)
    if (axis.values.empty())
      throw Error(ErrorCode::usage, fmt::format("picture of '{}': axis '{}' has no entries", table.what, axis.name));
}

[[noreturn]] void refuse_grid(const TableDescription& table, std::int64_t maps) {
  throw Error(ErrorCode::usage,
              fmt::format("picture of '{}': {} tables do not fit into one picture: choose fewer layers "
                          "or heads",
                          table.what, maps));
}

/// Cells of `wanted` pixels together where the limits allow it, and never more than `budget`.
Cells fit(std::int64_t entries, std::int64_t wanted, int budget, int largest, const PictureOptions& options) {
  const std::int64_t smallest = options.min_cell;
  auto size = std::clamp<std::int64_t>(wanted / entries, smallest, std::max(largest, options.min_cell));
  size = std::max(smallest, std::min(size, budget / entries));
  const auto most = std::max<std::int64_t>(1, budget / smallest);
  const auto merge = size * entries > budget ? (entries + most - 1) / most : 1;
  return {entries, merge, static_cast<int>(size)};
}

/// How many pixels the one map of a picture takes along an axis, when it can: room for a label on each token as long as
/// that goes.
std::int64_t wanted_alone(const Axis& axis) {
  const auto entries = axis.extent();
  const auto roomy = std::max<std::int64_t>(900, 14 * entries);
  if (!labelled_by_tokens(axis)) return std::min<std::int64_t>(roomy, 1600);
  return roomy <= table_budget ? roomy : 2600;
}

/// The cells of an attention table are square: the diagonal then looks like one.
void make_square(const TableDescription& table, PictureLayout& layout) {
  if (row_axis(table).name != "query" || column_axis(table).name != "key") return;
  auto& down = layout.down;
  auto& across = layout.across;
  down.size = across.size = std::min(down.size, across.size);
  down.merge = across.merge = std::max(down.merge, across.merge);
}

void size_single(const TableDescription& table, const PictureOptions& options, PictureLayout& layout) {
  const auto& rows = row_axis(table);
  const auto& columns = column_axis(table);
  const bool few = rows.extent() <= valued && columns.extent() <= valued;
  const auto largest = few ? options.max_cell : std::min(options.max_cell, plain_cell);
  layout.down = fit(rows.extent(), few ? table_budget : wanted_alone(rows), table_budget, largest, options);
  layout.across = fit(columns.extent(), few ? table_budget : wanted_alone(columns), table_budget, largest, options);
  make_square(table, layout);
  layout.values = few && layout.across.size >= 40 && layout.down.size >= 20;
}

/// Whether lines of the grid are entries of the first axis, and its columns those of the second.
bool is_crossed(const TableDescription& table) {
  const auto outer = outer_axes(table);
  return outer.size() == 2 && outer[0].extent() > 1 && outer[1].extent() > 1;
}

/// Layers below each other and heads side by side; one of either (or another single axis) runs in lines, so that the
/// grid comes out about as wide as high.
std::int64_t columns_of_grid(const TableDescription& table, std::int64_t maps, double map_width, double map_height) {
  if (is_crossed(table)) return outer_axes(table)[1].extent();
  const auto side = [&](std::int64_t columns) {
    const auto lines = (maps + columns - 1) / columns;
    return std::max(static_cast<double>(columns) * map_width, static_cast<double>(lines) * map_height);
  };
  std::int64_t best = 1;
  for (std::int64_t columns = 2; columns <= maps; ++columns)
    if (side(columns) < side(best)) best = columns;
  return best;
}

/// Fits the maps of a grid with the gaps it has; false when they do not fit.
bool fit_grid(const TableDescription& table, const PictureOptions& options, PictureLayout& layout) {
  const auto room = [](std::int64_t maps, int gap) { return static_cast<int>(table_budget / maps) - gap; };
  const auto room_across = room(layout.grid_columns, layout.gap_across);
  const auto room_down = room(layout.grid_lines(), layout.gap_down);
  if (room_across < std::max(least_map, options.min_cell) || room_down < std::max(least_map, options.min_cell))
    return false;
  constexpr int wanted = 260;
  const auto largest = std::min(options.max_cell, plain_cell);
  layout.across = fit(column_axis(table).extent(), wanted, room_across, largest, options);
  layout.down = fit(row_axis(table).extent(), wanted, room_down, largest, options);
  make_square(table, layout);
  return true;
}

double widest_caption(const TableDescription& table, std::int64_t maps, Captions style) {
  double widest = 0;  // all digits are equally wide: the longest text is the widest
  std::size_t longest = 0;
  for (std::int64_t index = 0; index < maps; ++index) {
    const auto text = caption(table, index, style);
    if (text.size() <= longest) continue;
    longest = text.size();
    widest = draw::text_width(text, caption_size);
  }
  return widest;
}

void size_grid(const TableDescription& table, const PictureOptions& options, PictureLayout& layout) {
  layout.grid_columns = 1;
  layout.across = fit(column_axis(table).extent(), 260, table_budget, plain_cell, options);
  layout.down = fit(row_axis(table).extent(), 260, table_budget, plain_cell, options);
  layout.grid_columns =
      columns_of_grid(table, layout.maps, layout.across.extent() + 12.0, layout.down.extent() + 12.0 + caption_height);
  layout.gap_across = 12;
  layout.gap_down = 12 + caption_height;
  if (fit_grid(table, options, layout))
    for (const auto style : {Captions::full, Captions::brief}) {
      layout.captions = style;
      if (widest_caption(table, layout.maps, style) <= layout.across.extent() + 6) return;
    }
  layout.captions = Captions::margins;
  layout.gap_across = layout.gap_down = 4;
  const bool numbers_fit = is_crossed(table) && table_budget / layout.grid_lines() >= label_pitch;
  if (!numbers_fit || !fit_grid(table, options, layout)) refuse_grid(table, layout.maps);
}

/// The next of 1, 2, 5, 10, 20, 50, ...
std::int64_t round_step(std::int64_t least) {
  for (std::int64_t power = 1;; power *= 10)
    for (const auto factor : {1, 2, 5})
      if (factor * power >= least) return factor * power;
}

/// The labels of one side, thinned where they are too close.
LabelPlan plan_labels(const TableDescription& table, const Axis& axis, const Cells& cells, bool single, bool on_top) {
  LabelPlan plan;
  plan.columns = single ? 18 : 14;
  plan.size = cells.size >= 20 && single ? 12 : cells.size < label_pitch || !single ? 10 : 11;
  const auto pitch = static_cast<double>(cells.size) / static_cast<double>(cells.merge);
  plan.step = static_cast<std::int64_t>(std::ceil(label_pitch / pitch));
  if (!labelled_by_tokens(axis)) plan.step = round_step(plan.step);
  plan.numbered = plan.step > 1 && labelled_by_tokens(axis);
  plan.angle = !on_top ? 0 : plan.step == 1 && cells.size >= 18 && single ? 45 : 90;
  double widest = 0;
  for (std::int64_t entry = 0; entry < cells.entries; entry += plan.step)
    widest = std::max(widest, draw::text_width(entry_label(table, axis, entry, plan.columns), plan.size));
  if (plan.numbered) widest += draw::text_width(fmt::format("{} ", cells.entries), plan.size);
  const auto radians = plan.angle * std::numbers::pi / 180;
  plan.depth = on_top ? widest * std::sin(radians) + plan.size * std::cos(radians) / 2 : widest;
  plan.overhang = on_top ? std::max(0.0, widest * std::cos(radians) - cells.size / 2.0) : 0;
  plan.distance = plan.step > 1 || plan.angle == 45 ? 8 : 5;  // room for a tick, or for the foot of a slanted letter
  plan.depth += plan.distance;
  return plan;
}

/// In a crowded grid: numbers of layers and heads instead of tokens.
void plan_margins(const TableDescription& table, PictureLayout& layout) {
  const auto outer = outer_axes(table);
  double widest = 0;
  for (const auto& axis : outer)
    for (const auto value : axis.values)
      widest = std::max(widest, draw::text_width(fmt::format("{} {}", axis.name, value), caption_size));
  layout.row_labels.depth = widest + 6;
  layout.column_labels.depth = widest + 6;
}

std::string title_of(const TableDescription& table, bool single) {
  auto title = fmt::format("{}: {}", draw::printable_text(table.model, 48), draw::printable_text(table.what, 24));
  std::string_view before = " of ";
  for (const auto& axis : outer_axes(table)) {
    const auto count = axis.extent();
    title += count == 1 ? fmt::format("{}{} {}", before, axis.name, axis.values.front())
                        : fmt::format("{}{} {}s", before, count, axis.name);
    before = single || count == 1 ? ", " : " \u00D7 ";
  }
  return title;
}

std::string subtitle_of(const TableDescription& table) {
  const auto& rows = row_axis(table);
  const auto& columns = column_axis(table);
  if (rows.name == "query" && columns.name == "key")
    return "each row is a query, the token that asks; each column is a key, the token that is asked";
  return fmt::format("rows: {}; columns: {}", axis_title(rows), axis_title(columns));
}

std::vector<std::string> notes_of(const TableDescription& table, const PictureLayout& layout) {
  std::vector<std::string> notes;
  if (table.causal) notes.emplace_back("Blank: keys that come after the query, which it cannot see.");
  if (table.what == "weights") notes.emplace_back("The weights of a row add up to 1.");
  if (layout.down.merge > 1 || layout.across.merge > 1)
    notes.push_back(
        fmt::format("Each cell stands for up to {} \u00D7 {} numbers, and shows the one of largest magnitude.",
                    layout.down.merge, layout.across.merge));
  return notes;
}

/// The corners: title, axis names and labels around the maps, the legend to the right, the notes below.
void place(const TableDescription& table, PictureLayout& layout) {
  constexpr int heading = 52;    // title and subtitle
  constexpr int axis_name = 22;  // one line, across or upright
  layout.left = margin + axis_name + static_cast<int>(std::ceil(layout.row_labels.depth));
  layout.top = margin + heading + axis_name + static_cast<int>(std::ceil(layout.column_labels.depth));
  const auto right = layout.left + layout.grid_width();
  const auto bottom = layout.top + layout.grid_height();
  const auto legend_left = right + 28;
  // Slanted labels reach over the legend: it begins below them, at the height of the table.
  layout.legend = {static_cast<double>(legend_left), layout.top + 38.0, 16,
                   static_cast<double>(std::clamp(layout.grid_height() - 80, 130, 320))};
  const auto masked_swatch = table.causal ? 34 : 8;
  layout.notes_top = std::max<double>(bottom, layout.legend.y + layout.legend.height + masked_swatch) + 22;
  double widest = std::max(draw::text_width(layout.title, 16, true), draw::text_width(layout.subtitle, 11));
  for (const auto& note : layout.notes) widest = std::max(widest, draw::text_width(note, 11));
  layout.width = std::max({legend_left + legend_width, right + static_cast<int>(layout.column_labels.overhang) + margin,
                           2 * margin + static_cast<int>(std::ceil(widest))});
  layout.height = static_cast<int>(layout.notes_top) + 16 * static_cast<int>(layout.notes.size()) + margin / 2;
}

}  // namespace

const Axis& row_axis(const TableDescription& table) { return table.axes[table.axes.size() - 2]; }
const Axis& column_axis(const TableDescription& table) { return table.axes.back(); }

draw::Box PictureLayout::map(std::int64_t index) const {
  const auto line = static_cast<int>(index / grid_columns);
  const auto column = static_cast<int>(index % grid_columns);
  return {static_cast<double>(left + column * (across.extent() + gap_across)),
          static_cast<double>(top + line * (down.extent() + gap_down)), static_cast<double>(across.extent()),
          static_cast<double>(down.extent())};
}

int PictureLayout::grid_width() const {
  return static_cast<int>(grid_columns) * (across.extent() + gap_across) - gap_across;
}

int PictureLayout::grid_height() const {
  const auto last_caption = captions == Captions::full || captions == Captions::brief ? caption_height : 0;
  return static_cast<int>(grid_lines()) * (down.extent() + gap_down) - gap_down + last_caption;
}

std::string caption(const TableDescription& table, std::int64_t index, Captions style) {
  std::string text;
  const auto outer = outer_axes(table);
  auto stride = index;
  for (const auto& axis : std::views::reverse(outer)) {
    const auto value = axis.values[static_cast<std::size_t>(stride % axis.extent())];
    stride /= axis.extent();
    const auto initial = std::toupper(static_cast<unsigned char>(axis.name.empty() ? ' ' : axis.name.front()));
    const auto part = style == Captions::brief ? fmt::format("{}{}", static_cast<char>(initial), value)
                                               : fmt::format("{} {}", axis.name, value);
    text.insert(0, text.empty() ? part : part + " ");
  }
  return text;
}

int png_scale(const PictureLayout& layout) { return std::max(layout.width, layout.height) <= 1500 ? 2 : 1; }

PictureLayout lay_out(const TableDescription& table, const PictureOptions& options) {
  require_drawable(table, options);
  PictureLayout layout;
  for (const auto& axis : outer_axes(table)) layout.maps *= axis.extent();
  const bool single = layout.maps == 1;
  if (single)
    size_single(table, options, layout);
  else
    size_grid(table, options, layout);
  if (layout.captions == Captions::margins) {
    plan_margins(table, layout);
  } else {
    layout.row_labels = plan_labels(table, row_axis(table), layout.down, single, false);
    layout.column_labels = plan_labels(table, column_axis(table), layout.across, single, true);
  }
  layout.title = title_of(table, single);
  layout.subtitle = subtitle_of(table);
  layout.notes = notes_of(table, layout);
  place(table, layout);
  return layout;
}

}  // namespace qkv::picture
