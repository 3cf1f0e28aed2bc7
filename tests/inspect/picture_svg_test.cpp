#include <limits>
#include <string>

#include "inspect/picture_tables.hpp"
#include "support/catch.hpp"
#include "support/xml.hpp"

namespace qkv {
namespace {

using namespace std::string_literals;
using test::attention_table;
using test::count;
using test::parse_xml;
using test::picture_of;
using test::share;

TEST_CASE("an SVG says in text what it shows: title, axes, tokens, numbers, layers and heads", "[inspect]") {
  const auto one = parse_xml(picture_of(attention_table(1, 1, 3), PictureFormat::svg, share));
  CHECK(one.error.empty());
  for (const auto* text :
       {"tiny: weights of layer 0, head 0", "query (asks)", "key (is asked)", "\u2423t2", "linear scale", "not seen",
        "0.40", "Blank: keys that come after the query, which it cannot see."}) {
    CAPTURE(text);
    CHECK(count(one, "text", text) > 0);
  }
  CHECK(count(one, "title", "query 1 (\u2423t1), key 0 (\u2423t0): 0.25") == 1);
  // Masked cells have no number, neither in them nor when they are pointed at.
  CHECK(count(one, "text", "nan") == 0);
  CHECK(count(one, "title") == 1 + 6);

  const auto grid = parse_xml(picture_of(attention_table(2, 3, 4), PictureFormat::svg, share, {.log_scale = true}));
  CHECK(grid.error.empty());
  for (const auto* text : {"layer 0 head 0", "layer 1 head 2", "log scale", "0.0001 or less"}) {
    CAPTURE(text);
    CHECK(count(grid, "text", text) > 0);
  }
}

TEST_CASE("hostile labels stay text", "[inspect]") {
  auto table = attention_table(1, 1, 9);
  const std::string labels[] = {"</text>", "\"q\"'&<>", "a\0b"s, "\xFF\xFE", "\u202Eevil",
                                "]]>",     "<!--",      "&amp;", "\x1B[2J"};
  for (std::size_t i = 0; i < 9; ++i) table.tokens[i].text = labels[i];
  table.model = "<script>\u202E\xFF\0"s;
  const auto svg = picture_of(table, PictureFormat::svg, share);
  const auto xml = parse_xml(svg);
  CHECK(xml.error.empty());
  for (const auto* shown :
       {"</text>", "\"q\"'&<>", "a\\x00b", "\\xFF\\xFE", "U+202Eevil", "]]>", "<!--", "&amp;", "\\x1B[2J"}) {
    CAPTURE(shown);
    CHECK(count(xml, "text", shown) == 2);  // as a row and as a column
  }
  CHECK(svg.find("\u202E") == std::string::npos);
  CHECK(count(xml, "script") == 0);
  CHECK(count(xml, "title", "<script>U+202E\\xFF\\x00: weights of layer 0, head 0") == 1);
  for (const auto format : {PictureFormat::png, PictureFormat::pdf})
    CHECK_FALSE(picture_of(table, format, share).empty());
}

TEST_CASE("a number that is none is named where a query sees it", "[inspect]") {
  const auto broken = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return row == 2 && column == 1 ? std::numeric_limits<float>::quiet_NaN() : 0.25F;
  };
  const auto xml = parse_xml(picture_of(attention_table(1, 1, 3), PictureFormat::svg, broken));
  CHECK(count(xml, "text", "nan") == 1);
  CHECK(count(xml, "title", "query 2 (\u2423t2), key 1 (\u2423t1): nan") == 1);
}

TEST_CASE("small tables are rectangles, large ones an image each", "[inspect]") {
  const auto small = parse_xml(picture_of(attention_table(2, 2, 10), PictureFormat::svg, share));
  CHECK(small.error.empty());
  CHECK(count(small, "image") == 1);  // the colour bar
  CHECK(count(small, "rect") >= 4 * 55);
  const auto svg = picture_of(attention_table(3, 5, 100), PictureFormat::svg, share);
  const auto large = parse_xml(svg);
  CHECK(large.error.empty());
  CHECK(count(large, "image") == 15 + 1);
  CHECK(count(large, "rect") < 500);
  CHECK(svg.find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);  // how every PNG begins
}

}  // namespace
}  // namespace qkv
