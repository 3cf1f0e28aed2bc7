#include "qkv/inspect/writers/picture_layout.hpp"

#include "inspect/picture_tables.hpp"
#include "support/catch.hpp"

namespace qkv::picture {
namespace {

using test::attention_table;
using test::numbered_axis;

std::int64_t held_numbers(const PictureLayout& layout) {
  return layout.maps * layout.down.bins() * layout.across.bins();
}

TEST_CASE("few tokens get large cells with numbers and all labels", "[inspect]") {
  const auto layout = lay_out(attention_table(1, 1, 12), {});
  CHECK(layout.values);
  CHECK(layout.across.size == 52);
  CHECK(layout.down.size == 52);
  CHECK(layout.row_labels.step == 1);
  CHECK(layout.column_labels.step == 1);
  CHECK(layout.column_labels.angle == 45);
  CHECK(layout.title == "tiny: weights of layer 0, head 0");
  CHECK(png_scale(layout) == 2);
  CHECK_FALSE(lay_out(attention_table(1, 1, 17), {}).values);
}

TEST_CASE("pictures stay within about 4000 pixels, and what is held within the picture", "[inspect]") {
  const auto shapes = {attention_table(1, 1, 130),   attention_table(1, 1, 512),   attention_table(1, 1, 9000),
                       attention_table(12, 12, 512), attention_table(24, 16, 512), attention_table(32, 32, 2000),
                       attention_table(80, 64, 300), attention_table(1, 64, 700),  attention_table(48, 1, 40)};
  for (const auto& table : shapes) {
    const auto layout = lay_out(table, {});
    CAPTURE(layout.maps, layout.width, layout.height);
    CHECK(layout.width <= 4096);
    CHECK(layout.height <= 4096);
    CHECK(held_numbers(layout) <= std::int64_t{layout.width} * layout.height);
    CHECK(layout.down.size == layout.across.size);
    CHECK(layout.down.bins() * layout.down.merge >= layout.down.entries);
  }
}

TEST_CASE("long tables get every k-th label, with its number, not closer than can be read", "[inspect]") {
  for (const std::int64_t n : {130, 400, 512, 4000}) {
    const auto layout = lay_out(attention_table(1, 1, n), {});
    const auto& plan = layout.row_labels;
    CAPTURE(n, plan.step);
    CHECK(layout.down.center(plan.step) - layout.down.center(0) >= 12.99);
    CHECK(plan.numbered == (plan.step > 1));
    CHECK((plan.step == 1) == (n <= 130));
  }
}

TEST_CASE("layers are lines and heads are columns", "[inspect]") {
  const auto layout = lay_out(attention_table(5, 4, 12), {});
  CHECK(layout.grid_columns == 4);
  CHECK(layout.grid_lines() == 5);
  CHECK(layout.captions == Captions::full);
  CHECK(layout.title == "tiny: weights of 5 layers \u00D7 4 heads");
  const auto table = attention_table(5, 4, 12);
  CHECK(caption(table, 0, Captions::full) == "layer 0 head 0");
  CHECK(caption(table, 6, Captions::full) == "layer 1 head 2");
  CHECK(caption(table, 6, Captions::brief) == "L1 H2");
  CHECK(layout.map(4).y > layout.map(3).y);  // head 0 of layer 1 begins a line
  CHECK(layout.map(4).x == layout.map(0).x);
}

TEST_CASE("captions name the layers and heads that were chosen", "[inspect]") {
  auto table = attention_table(2, 2, 3);
  table.axes[0].values = {7, 3};
  table.axes[1].values = {5, 11};
  CHECK(caption(table, 1, Captions::full) == "layer 7 head 11");
  CHECK(caption(table, 2, Captions::full) == "layer 3 head 5");
}

TEST_CASE("one layer of many heads runs in lines", "[inspect]") {
  const auto layout = lay_out(attention_table(1, 12, 12), {});
  CHECK(layout.grid_lines() > 1);
  CHECK(layout.grid_columns > 1);
  CHECK(layout.grid_lines() * layout.grid_columns >= 12);
}

TEST_CASE("maps do not overlap each other, the labels, the legend or the notes", "[inspect]") {
  for (const auto& table : {attention_table(1, 1, 2), attention_table(3, 4, 12), attention_table(12, 12, 512),
                            attention_table(40, 40, 30), attention_table(90, 100, 12)}) {
    const auto layout = lay_out(table, {});
    CAPTURE(layout.maps);
    const auto first = layout.map(0);
    const auto last = layout.map(layout.maps - 1);
    CHECK(first.x >= layout.row_labels.depth);
    CHECK(first.y >= layout.column_labels.depth + 60);
    CHECK(layout.legend.x >= last.x + last.width + 20);
    CHECK(layout.legend.y + layout.legend.height < layout.notes_top);
    CHECK(last.y + last.height < layout.notes_top);
    CHECK(layout.notes_top + 16 * static_cast<double>(layout.notes.size() - 1) + 8 <= layout.height);
    if (layout.grid_columns > 1) CHECK(layout.map(1).x >= first.x + first.width + 4);
    if (layout.grid_lines() > 1) CHECK(layout.map(layout.grid_columns).y >= first.y + first.height + 4);
  }
}

TEST_CASE("captions shrink, and then move to the margins, when maps are small", "[inspect]") {
  CHECK(lay_out(attention_table(12, 12, 12), {}).captions == Captions::full);
  CHECK(lay_out(attention_table(40, 40, 12), {}).captions == Captions::brief);
  const auto crowded = lay_out(attention_table(90, 100, 12), {});
  CHECK(crowded.captions == Captions::margins);
  CHECK(crowded.row_labels.step == 0);
}

TEST_CASE("other tables are drawn along their own axes", "[inspect]") {
  TableDescription table;
  table.model = "tiny";
  table.what = "residual";
  table.axes = {numbered_axis("layer", 13), numbered_axis("position", 12), numbered_axis("dimension", 768)};
  const auto layout = lay_out(table, {});
  CHECK(layout.maps == 13);
  CHECK(layout.across.entries == 768);
  CHECK(caption(table, 12, Captions::full) == "layer 12");
  CHECK(layout.subtitle == "rows: position; columns: dimension");
  CHECK(layout.column_labels.step == 20);  // a round number
  CHECK_FALSE(layout.column_labels.numbered);

  table.axes = {numbered_axis("position", 12), numbered_axis("vocabulary", 50257)};
  const auto wide = lay_out(table, {});
  CHECK(wide.width <= 4096);
  CHECK(wide.across.merge > 1);
  CHECK(wide.down.merge == 1);
}

TEST_CASE("cell sizes keep their limits", "[inspect]") {
  CHECK(lay_out(attention_table(1, 1, 4), {.max_cell = 30}).across.size == 30);
  const auto coarse = lay_out(attention_table(1, 1, 2000), {.min_cell = 4});
  CHECK(coarse.across.size == 4);
  CHECK(coarse.across.merge == 3);
  CHECK(coarse.width <= 4096);
}

TEST_CASE("tables that cannot be a picture are refused", "[inspect]") {
  const auto refused = [](const TableDescription& table, const PictureOptions& options = {}) {
    try {
      (void)lay_out(table, options);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return true;
    }
    return false;
  };
  auto flat = attention_table(1, 1, 3);
  flat.axes.resize(1);
  CHECK(refused(flat));
  auto deep = attention_table(1, 1, 3);
  deep.axes.insert(deep.axes.begin(), numbered_axis("batch", 1));
  CHECK(refused(deep));
  CHECK(refused(attention_table(1, 0, 3)));
  CHECK(refused(attention_table(400, 400, 3)));
  CHECK(refused(attention_table(1, 1, 3), {.min_cell = 0}));
  CHECK(refused(attention_table(1, 1, 3), {.min_cell = 20, .max_cell = 10}));
  CHECK_FALSE(refused(attention_table(1, 1, 3)));
}

}  // namespace
}  // namespace qkv::picture
