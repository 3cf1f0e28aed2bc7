#include "qkv/draw/canvas.hpp"

#include <array>
#include <numbers>
#include <string>

#include "support/catch.hpp"
#include "support/decoded_png.hpp"
#include "support/sinks.hpp"
#include "support/xml.hpp"

namespace qkv::draw {
namespace {

TEST_CASE("a document that is given up is not written to its end", "[draw]") {
  test::TextSink sink;
  std::string before;
  {
    const auto canvas = pdf_canvas(sink, {100, 100, "title"});
    canvas->text({10, 50}, "text", {});
    before = sink.bytes;
  }
  CHECK(sink.bytes == before);
  CHECK(sink.bytes.find("%%EOF") == std::string::npos);
}

TEST_CASE("text is measured, in every script", "[draw]") {
  CHECK(text_width("", 10) == 0);
  CHECK(text_width("mm", 10) > 1.5 * text_width("m", 10));
  CHECK(text_width("m", 20) > 1.9 * text_width("m", 10));
  CHECK(text_width("\u4F60\u597D", 10) > 5);
  CHECK(text_width("\u0645\u0631", 10) > 3);
}

TEST_CASE("an SVG keeps anchors and angles", "[draw]") {
  test::TextSink sink;
  const auto canvas = svg_canvas(sink, {100, 100, "title"});
  canvas->text({10, 50}, "upright", {.anchor = Anchor::end, .angle = 90});
  canvas->finish();
  CHECK(sink.bytes.find("text-anchor=\"end\" transform=\"translate(10 50) rotate(-90)\"") != std::string::npos);
}

TEST_CASE("an SVG has lines and markers as elements of their own", "[draw]") {
  test::TextSink sink;
  const auto canvas = svg_canvas(sink, {100, 100, "title"});
  canvas->polyline(std::array<Point, 2>{{{1, 2}, {3.5, 4}}}, {{255, 0, 0}, 1.5});
  canvas->marker({10, 20}, {MarkerForm::circle, {0, 255, 0}, 8}, "a < b");
  canvas->marker({10, 20}, {MarkerForm::square, {0, 0, 255}, 8});
  canvas->finish();
  CHECK(sink.bytes.find(R"(<polyline points="1,2 3.5,4" fill="none" stroke="#ff0000" stroke-width="1.5")") !=
        std::string::npos);
  CHECK(sink.bytes.find(R"(<circle cx="10" cy="20" r="4" fill="#00ff00")") != std::string::npos);
  CHECK(sink.bytes.find("<title>a &lt; b</title></circle>") != std::string::npos);
  CHECK(test::count(test::parse_xml(sink.bytes), "polygon") == 1);
  CHECK(test::parse_xml(sink.bytes).error.empty());
}

TEST_CASE("a PNG has lines and markers where they were asked for", "[draw]") {
  test::TextSink sink;
  const auto canvas = png_canvas(sink, {100, 100, "title"}, 1);
  canvas->polyline(std::array<Point, 3>{{{10, 10}, {90, 10}, {90, 90}}}, {{255, 0, 0}, 4});
  canvas->marker({50, 50}, {MarkerForm::circle, {0, 255, 0}, 20});
  canvas->marker({20, 80}, {MarkerForm::triangle, {0, 0, 255}, 20});
  canvas->finish();
  const test::DecodedPng png(sink.bytes);
  CHECK(png.at(50, 10) == Color{255, 0, 0});
  CHECK(png.at(90, 50) == Color{255, 0, 0});
  CHECK(png.at(50, 90) == paper);  // the line is not closed, nor filled
  CHECK(png.at(70, 30) == paper);
  CHECK(png.at(50, 50) == Color{0, 255, 0});
  CHECK(png.at(58, 58) == paper);  // a corner that a square would have
  CHECK(png.at(20, 80) == Color{0, 0, 255});
  CHECK(png.at(20, 70) == Color{0, 0, 255});  // the tip is above
  CHECK(png.at(20, 88) == paper);
}

TEST_CASE("markers of every form have the area of the circle, around the point", "[draw]") {
  for (const auto form :
       {MarkerForm::square, MarkerForm::triangle, MarkerForm::diamond, MarkerForm::inverted_triangle}) {
    const auto points = corners({30, 40}, {form, ink, 10});
    double twice_area = 0;
    Point sum{0, 0};
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& a = points[i];
      const auto& b = points[(i + 1) % points.size()];
      twice_area += a.x * b.y - b.x * a.y;
      sum = {sum.x + a.x, sum.y + a.y};
    }
    CAPTURE(static_cast<int>(form));
    CHECK(twice_area / 2 == test::Approx(std::numbers::pi * 25));
    CHECK(sum.x / static_cast<double>(points.size()) == test::Approx(30));
    CHECK(sum.y / static_cast<double>(points.size()) == test::Approx(40));
  }
  CHECK(corners({0, 0}, {MarkerForm::circle, ink, 10}).empty());
}

}  // namespace
}  // namespace qkv::draw
