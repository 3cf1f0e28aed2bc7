#include "qkv/inspect/writers/picture_writer.hpp"

#include <malloc.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "inspect/picture_tables.hpp"
#include "qkv/inspect/color_scale.hpp"
#include "qkv/inspect/writers/picture_layout.hpp"
#include "support/catch.hpp"
#include "support/decoded_png.hpp"

namespace qkv {
namespace {

using test::attention_table;
using test::DecodedPng;
using test::feed;
using test::FullSink;
using test::numbered_axis;
using test::picture_of;
using test::share;
using test::TextSink;
using Kind = ColorScale::Kind;
using Mapping = ColorScale::Mapping;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::string describe(Color color) {
  return std::to_string(color.red) + " " + std::to_string(color.green) + " " + std::to_string(color.blue);
}

/// Looks at the upper left corner of a cell, beside the number that may be written in it.
Color cell_color(const DecodedPng& png, const picture::PictureLayout& layout, std::int64_t map, std::int64_t row,
                 std::int64_t column) {
  const auto box = layout.map(map);
  const auto scale = picture::png_scale(layout);
  const auto corner = [](const picture::Cells& cells, std::int64_t entry) {
    return static_cast<double>(entry / cells.merge * cells.size) + std::min(2, cells.size - 1);
  };
  return png.at((box.x + corner(layout.across, column)) * scale, (box.y + corner(layout.down, row)) * scale);
}

/// Every cell of every map has the colour that `expected` says.
template <typename Expected>
void check_cells(const TableDescription& table, const std::string& bytes, Expected expected,
                 const PictureOptions& options = {}) {
  const auto layout = picture::lay_out(table, options);
  const DecodedPng png(bytes);
  const auto scale = picture::png_scale(layout);
  CHECK(png.width() == layout.width * scale);
  CHECK(png.height() == layout.height * scale);
  std::int64_t wrong = 0;
  std::string first;
  for (std::int64_t map = 0; map < layout.maps; ++map)
    for (std::int64_t row = 0; row < layout.down.entries; ++row)
      for (std::int64_t column = 0; column < layout.across.entries; ++column) {
        const auto found = cell_color(png, layout, map, row, column);
        const Color wanted = expected(map, row, column);
        if (found == wanted || wrong++ > 0) continue;
        first = "map " + std::to_string(map) + " row " + std::to_string(row) + " column " + std::to_string(column) +
                ": expected " + describe(wanted) + ", found " + describe(found);
      }
  CAPTURE(first);
  CHECK(wrong == 0);
}

TEST_CASE("each cell of a PNG has the colour of its number, and masked cells are blank", "[inspect]") {
  const ColorScale scale(Kind::sequential, Mapping::linear, 1);
  const auto expected = [&](std::int64_t map, std::int64_t row, std::int64_t column) {
    return column > row ? paper : scale(share(map, row, column));
  };
  // Numbers in the cells; rectangles; images of one cell a pixel and of more; grids of both.
  for (const auto& table : {attention_table(1, 1, 5), attention_table(1, 1, 30), attention_table(1, 1, 80),
                            attention_table(2, 3, 6), attention_table(2, 3, 40), attention_table(1, 7, 9)}) {
    CAPTURE(table.axes[0].extent(), table.axes[1].extent(), table.axes[2].extent());
    check_cells(table, picture_of(table, PictureFormat::png, share), expected);
  }
}

TEST_CASE("a logarithmic scale colours small weights", "[inspect]") {
  const auto table = attention_table(1, 1, 4);
  const ColorScale scale(Kind::sequential, Mapping::logarithmic, 1);
  const auto small = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return column > row ? 0.0F : 0.001F * static_cast<float>(1 + column);
  };
  const PictureOptions options{.log_scale = true};
  check_cells(
      table, picture_of(table, PictureFormat::png, small, options),
      [&](std::int64_t map, std::int64_t row, std::int64_t column) {
        return column > row ? paper : scale(small(map, row, column));
      },
      options);
}

TEST_CASE("signed numbers are drawn on a diverging scale up to the largest magnitude of all maps", "[inspect]") {
  const auto table = attention_table(2, 2, 5, "scores");
  const auto score = [](std::int64_t map, std::int64_t row, std::int64_t column) {
    if (column > row) return nan;
    return static_cast<float>((map - 2) * 3) + 0.25F * static_cast<float>(row - column);
  };
  const ColorScale scale(Kind::diverging, Mapping::linear, 6);
  check_cells(table, picture_of(table, PictureFormat::png, score),
              [&](std::int64_t map, std::int64_t row, std::int64_t column) { return scale(score(map, row, column)); });
}

TEST_CASE("a table that is not causal has no mask, and numbers without sign a sequential scale", "[inspect]") {
  auto table = attention_table(1, 1, 6, "similarity");
  table.axes.erase(table.axes.begin(), table.axes.begin() + 2);
  table.causal = false;
  const auto product = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return static_cast<float>(row * column);
  };
  const ColorScale scale(Kind::sequential, Mapping::linear, 25);
  check_cells(
      table, picture_of(table, PictureFormat::png, product),
      [&](std::int64_t map, std::int64_t row, std::int64_t column) { return scale(product(map, row, column)); });
}

TEST_CASE("the mask follows the positions that the axes name", "[inspect]") {
  auto table = attention_table(1, 1, 4);
  table.axes[2].values = {1, 3};  // rows of two of the queries only
  const ColorScale scale(Kind::sequential, Mapping::linear, 1);
  check_cells(
      table, picture_of(table, PictureFormat::png, [](auto, auto, auto) { return 0.5F; }),
      [&](std::int64_t, std::int64_t row, std::int64_t column) { return column > 2 * row + 1 ? paper : scale(0.5F); });
}

TEST_CASE("cells that share a pixel show their largest magnitude", "[inspect]") {
  const auto table = attention_table(1, 1, 5000);
  const auto layout = picture::lay_out(table, {});
  REQUIRE(layout.across.merge == 2);
  // One weight of 1 in each row, a different one in each.
  const auto needle = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return column == row / 3 ? 1.0F : 0.0F;
  };
  const DecodedPng png(picture_of(table, PictureFormat::png, needle));
  const ColorScale scale(Kind::sequential, Mapping::linear, 1);
  for (std::int64_t row = 1; row < 5000; row += 97) {
    CHECK(cell_color(png, layout, 0, row, row / 3) == scale(1));
    if (row > 40) CHECK(cell_color(png, layout, 0, row, row / 3 + 8) == scale(0));
  }
}

TEST_CASE("infinite numbers take the colours of the ends and do not stretch the scale", "[inspect]") {
  const auto table = attention_table(1, 1, 3, "scores");
  const auto value = [](std::int64_t, std::int64_t row, std::int64_t column) {
    if (column > row) return nan;
    if (row == 2 && column == 0) return std::numeric_limits<float>::infinity();
    return row == 2 && column == 1 ? -std::numeric_limits<float>::infinity() : static_cast<float>(column - 2);
  };
  const ColorScale scale(Kind::diverging, Mapping::linear, 2);
  check_cells(table, picture_of(table, PictureFormat::png, value),
              [&](std::int64_t map, std::int64_t row, std::int64_t column) { return scale(value(map, row, column)); });
}

TEST_CASE("a PDF is whole: header, index where it says, end mark, page size", "[inspect]") {
  for (const auto& table : {attention_table(1, 1, 5), attention_table(3, 4, 60)}) {
    const auto pdf = picture_of(table, PictureFormat::pdf, share);
    const auto layout = picture::lay_out(table, {});
    CHECK(pdf.rfind("%PDF-1.", 0) == 0);
    CHECK(pdf.substr(pdf.size() - 6) == "%%EOF\n");
    const auto at = pdf.rfind("startxref\n");
    REQUIRE(at != std::string::npos);
    const auto index = static_cast<std::size_t>(std::stoul(pdf.substr(at + 10)));
    REQUIRE(index < pdf.size());
    CHECK(pdf.substr(index, 4) == "xref");
    CHECK(pdf.find("/MediaBox [ 0 0 " + std::to_string(layout.width * 3 / 4)) != std::string::npos);
  }
}

TEST_CASE("the error of a sink comes through as it was, and nothing is written after it", "[inspect]") {
  const auto table = attention_table(2, 2, 60);
  for (const auto format : {PictureFormat::png, PictureFormat::svg, PictureFormat::pdf})
    for (const std::size_t room : {0, 30, 3000}) {
      CAPTURE(static_cast<int>(format), room);
      FullSink sink(room);
      std::string message;
      {
        const auto writer = picture_writer(sink, format);
        writer->begin(table);
        feed(*writer, table, share);
        try {
          writer->end();
        } catch (const Error& error) {
          CHECK(error.code() == ErrorCode::input);
          message = error.what();
        }
      }
      CHECK(message == "the disk of the test is full");
      CHECK(sink.writes_after_failure == 0);
    }
}

TEST_CASE("nothing is written before the last row", "[inspect]") {
  const auto table = attention_table(1, 2, 8);
  for (const auto format : {PictureFormat::png, PictureFormat::svg, PictureFormat::pdf}) {
    TextSink sink;
    {
      const auto writer = picture_writer(sink, format);
      writer->begin(table);
      feed(*writer, table, share);
      CHECK(sink.bytes.empty());
    }
    CHECK(sink.bytes.empty());  // nor when the writer is given up
  }
}

TEST_CASE("rows that do not fit the description are refused", "[inspect]") {
  const auto table = attention_table(1, 1, 3);
  TextSink sink;
  const std::vector<float> row(3, 0.1F);
  const auto writer = picture_writer(sink, PictureFormat::png);
  writer->begin(table);
  CHECK_THROWS_AS(writer->row(std::vector<float>(4, 0.1F)), Error);
  writer->row(row);
  writer->row(row);
  CHECK_THROWS_AS(writer->end(), Error);
  writer->row(row);
  CHECK_THROWS_AS(writer->row(row), Error);
  writer->end();
  CHECK_FALSE(sink.bytes.empty());
}

#ifdef __GLIBC__
std::size_t allocated() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_CASE("memory is that of the picture, however many heads there are", "[inspect]") {
  TextSink sink;
  const auto held = [&](std::int64_t layers, std::int64_t heads, std::int64_t n) {
    const auto table = attention_table(layers, heads, n);
    const auto writer = picture_writer(sink, PictureFormat::png);
    const auto before = allocated();
    writer->begin(table);
    feed(*writer, table, share);
    return static_cast<double>(allocated()) - static_cast<double>(before);
  };
  constexpr double picture = 4096.0 * 4096.0 * 4.0;
  CHECK(held(12, 12, 512) < picture);  // all tables: 151 MB
  CHECK(held(30, 30, 256) < picture);  // 236 MB
  CHECK(held(1, 1, 6000) < picture);   // 144 MB
}
#endif

}  // namespace
}  // namespace qkv
