#include "qkv/draw/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "qkv/draw/chart_labels.hpp"
#include "qkv/draw/chart_style.hpp"
#include "support/catch.hpp"
#include "support/decoded_png.hpp"
#include "support/sinks.hpp"
#include "support/xml.hpp"

namespace qkv::draw {
namespace {

using namespace std::string_literals;
using test::Approx;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string picture_of(const LineChart& chart, PictureFormat format) {
  test::TextSink sink;
  draw_line_chart(sink, format, chart);
  return sink.bytes;
}

struct ShownText {
  std::string text;
  Box box;
  Point at;  // on the middle of its height
};

struct ShownMarker {
  Point at;
  std::string color;
};

std::vector<Point> points_in(const std::string& attribute) {
  std::vector<Point> points;
  std::istringstream stream(attribute);
  Point point{};
  for (char comma = 0; stream >> point.x >> comma >> point.y;) points.push_back(point);
  return points;
}

/// A chart, read back from its SVG.
struct Shown {
  explicit Shown(const LineChart& chart) : svg(picture_of(chart, PictureFormat::svg)), xml(test::parse_xml(svg)) {
    REQUIRE(xml.error.empty());
    for (const auto& element : xml.elements) {
      const auto number = [&](const char* name) { return std::stod(element.attributes.at(name)); };
      if (element.name == "svg") page = {0, 0, number("width"), number("height")};
      if (element.name == "polyline") lines.push_back(points_in(element.attributes.at("points")));
      if (element.name == "circle") markers.push_back({{number("cx"), number("cy")}, element.attributes.at("fill")});
      if (element.name == "polygon") add_polygon(element);
      if (element.name == "text" && !element.text.empty()) add_text(element);
      if (element.name == "rect" && element.attributes.at("fill") == "#6e6e78") {  // the two axes are the longest
        if (number("height") > plot.height) plot = {number("x"), number("y"), plot.width, number("height")};
        if (number("width") > plot.width) plot.width = number("width");
      }
    }
  }

  [[nodiscard]] const ShownText& text(const std::string& wanted) const {
    const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text.text == wanted; });
    CAPTURE(wanted);
    REQUIRE(found != texts.end());
    return *found;
  }

  std::string svg;
  test::Xml xml;
  Box page{};
  Box plot{};
  std::vector<ShownText> texts;
  std::vector<ShownMarker> markers;
  std::vector<std::vector<Point>> lines;

 private:
  void add_polygon(const test::XmlElement& element) {
    const auto corner = points_in(element.attributes.at("points"));
    REQUIRE(corner.size() >= 3);
    Point sum{0, 0};
    for (const auto& point : corner) sum = {sum.x + point.x, sum.y + point.y};
    const auto n = static_cast<double>(corner.size());
    markers.push_back({{sum.x / n, sum.y / n}, element.attributes.at("fill")});
  }

  void add_text(const test::XmlElement& element) {
    const auto number = [&](const char* name) { return std::stod(element.attributes.at(name)); };
    const auto size = number("font-size");
    const auto width = text_width(element.text, size, element.attributes.count("font-weight") > 0);
    const auto anchor = element.attributes.find("text-anchor");
    const auto shift = anchor == element.attributes.end() ? 0 : anchor->second == "middle" ? width / 2 : width;
    const Point at{number("x"), number("y") - baseline_drop * size};
    texts.push_back({element.text, {at.x - shift, at.y - size / 2, width, size}, at});
  }
};

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// What holds for every chart: no number that is none, nothing outside of the page, no text on another or on a line.
void check_sound(const Shown& shown) {
  for (const auto& element : shown.xml.elements)
    for (const auto& [name, value] : element.attributes) {
      if (name == "font-family" || name.rfind("xmlns", 0) == 0) continue;
      CAPTURE(element.name, name, value);
      CHECK(value.find("nan") == std::string::npos);
      CHECK(value.find("inf") == std::string::npos);
    }
  const auto on_page = [&](const Point& point) {
    return point.x >= 0 && point.y >= 0 && point.x <= shown.page.width && point.y <= shown.page.height;
  };
  for (const auto& marker : shown.markers) CHECK(clipped(marker.at, marker.at, shown.plot));
  for (const auto& line : shown.lines) CHECK(std::all_of(line.begin(), line.end(), on_page));
  for (std::size_t i = 0; i < shown.texts.size(); ++i) {
    const auto& text = shown.texts[i];
    CAPTURE(text.text);
    CHECK(on_page({text.box.x, text.box.y}));
    CHECK(on_page({text.box.x + text.box.width, text.box.y + text.box.height}));
    for (std::size_t other = 0; other < i; ++other) {
      CAPTURE(shown.texts[other].text);
      CHECK_FALSE(overlap(text.box, shown.texts[other].box));
    }
    for (const auto& line : shown.lines)
      for (std::size_t p = 1; p < line.size(); ++p) CHECK_FALSE(clipped(line[p - 1], line[p], text.box));
  }
}

ChartSeries series(const std::string& name, double base, double linear, int last = 1024) {
  ChartSeries made{name, {}, {}};
  for (int n = 1; n <= last; n *= 2) made.points.push_back({1.0 * n, base + linear * n});
  return made;
}

LineChart two_modes() {
  LineChart chart;
  chart.title = "tiny: time a step";
  chart.subtitle = "f32";
  chart.x.title = "tokens in the text";
  chart.y.title = "time a step";
  chart.series = {series("everything recomputed", 0.02, 0.001), series("with kept keys and values", 0.02, 4e-6)};
  chart.notes = {"a note"};
  return chart;
}

TEST_CASE("points stand where the marks of the axes say", "[draw]") {
  auto chart = two_modes();
  chart.series = {{"measured", {{1, 0.02}, {3, 0.05}, {100, 0.3}, {1024, 1.1}}, {}}};
  for (const bool logarithmic : {true, false}) {
    chart.x.logarithmic = chart.y.logarithmic = logarithmic;
    const Shown shown(chart);
    check_sound(shown);
    const auto between = [&](double value, double a, double at_a, double b, double at_b) {
      const auto t = logarithmic ? std::log(value / a) / std::log(b / a) : (value - a) / (b - a);
      return at_a + t * (at_b - at_a);
    };
    REQUIRE(shown.markers.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto& point = chart.series[0].points[i];
      const auto& at = shown.markers[i].at;
      CHECK(at.x == Approx(between(point.x, 128, shown.text("128").at.x, 1024, shown.text("1024").at.x)).margin(0.02));
      CHECK(at.y == Approx(between(point.y, 0.2, shown.text("200 ms").at.y, 1, shown.text("1 s").at.y)).margin(0.02));
    }
    CHECK(shown.markers[0].at.x < shown.markers[3].at.x);
    CHECK(shown.markers[0].at.y > shown.markers[3].at.y);
  }
}

TEST_CASE("a chart says what it shows, and names its lines where they end", "[draw]") {
  const auto chart = two_modes();
  const Shown shown(chart);
  check_sound(shown);
  for (const auto* text : {"tiny: time a step", "f32", "tokens in the text", "time a step", "a note", "20 ms", "64"})
    CHECK(shown.text(text).text == text);
  CHECK(test::count(shown.xml, "title", "everything recomputed, 64: 84 ms") == 1);
  REQUIRE(shown.markers.size() == 22);
  CHECK(shown.text("everything recomputed").at.y == Approx(shown.markers[10].at.y).margin(0.1));
  CHECK(shown.text("with kept keys and values").at.y == Approx(shown.markers[21].at.y).margin(0.1));
  CHECK(shown.markers[0].color != shown.markers[21].color);
  CHECK(test::count(shown.xml, "circle") == 11);
  CHECK(test::count(shown.xml, "polygon") == 11);
  CHECK(shown.lines.size() == 2);  // through the points, and no leader
}

TEST_CASE("the names of close lines do not overlap", "[draw]") {
  auto chart = two_modes();
  chart.series = {series("kept, 1 thread", 0.02, 4e-6), series("kept, 2 threads", 0.0201, 4e-6),
                  series("kept, 2 threads again", 0.0201, 4e-6), series("kept, 4 threads", 0.0202, 4e-6, 256)};
  const Shown close(chart);
  check_sound(close);
  CHECK(close.lines.size() >= 4 + 2);  // leaders where a name had to give way

  chart.series = {series("early", 0.02, 0.001, 64), series("late", 0.02, 4e-6)};
  const Shown inside(chart);
  check_sound(inside);
  CHECK(inside.text("early").box.x + inside.text("early").box.width < inside.plot.x + inside.plot.width);

  chart.series.clear();
  for (int i = 0; i < 40; ++i) chart.series.push_back(series(fmt::format("series number {}", i), 0.02, 1e-6));
  check_sound(Shown(chart));
}

TEST_CASE("what cannot be shown is left out", "[draw]") {
  const std::vector<std::pair<std::vector<Point>, std::size_t>> cases{
      {{}, 0},
      {{{64, 0.02}}, 1},
      {{{64, 0.02}, {64, 0.02}, {64, 0.02}}, 3},
      {{{1, 0.02}, {1024, 0.02}}, 2},
      {{{0, 0.02}, {-1, 0.02}, {nan, 0.02}, {infinity, 0.02}}, 0},
      {{{1, 0}, {2, -1}, {3, nan}, {4, infinity}, {5, -infinity}, {6, 0.02}}, 1},
      {{{1e-320, 1}, {1e308, 1}, {1, 1e-320}, {1, 1e308}}, 0},
      {{{1e-99, 1e-99}, {1e99, 1e99}}, 2},
      {{{1, 1e-99}, {1024, 1e99}, {3, 1}}, 3},
      {{{1, 1}, {1 + 1e-15, 1 + 1e-15}}, 2},
      {{{0.25, 1e-13}, {0.5, 1e-12}}, 2},
      {{{4, 0.4}, {1, 0.1}, {2, 0.2}}, 3}};
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const bool logarithmic : {true, false}) {
      CAPTURE(i, logarithmic);
      LineChart chart;
      chart.x.logarithmic = chart.y.logarithmic = logarithmic;
      chart.series = {{"points", cases[i].first, {}}, {"nothing", {}, {}}};
      const Shown shown(chart);
      check_sound(shown);
      CHECK(shown.markers.size() == cases[i].second);
      CHECK(test::count(shown.xml, "text", "nothing") == 0);
      CHECK(test::count(shown.xml, "text", "nothing to show") == (cases[i].second == 0 ? 1 : 0));
      chart.series[0].curve = cases[i].first;
      chart.series[0].points.clear();
      check_sound(Shown(chart));
    }
  check_sound(Shown(LineChart{}));
}

TEST_CASE("a line goes from left to right, in whatever order its points come", "[draw]") {
  auto chart = two_modes();
  const auto in_order = picture_of(chart, PictureFormat::svg);
  for (auto& [name, points, curve] : chart.series) std::rotate(points.begin(), points.begin() + 4, points.end());
  CHECK(picture_of(chart, PictureFormat::svg) == in_order);
}

TEST_CASE("a curve takes the place of the line through the points, and ends where the axes do", "[draw]") {
  auto chart = two_modes();
  chart.series.pop_back();
  auto& curve = chart.series[0].curve;
  for (int i = -20; i <= 40; ++i) curve.push_back({std::exp2(i / 2.0), std::pow(10.0, i / 2.0 - 5)});  // 17 decades
  curve.push_back({2000, nan});
  const Shown shown(chart);
  check_sound(shown);
  const auto& plot = shown.plot;
  const auto drawn = std::max_element(shown.lines.begin(), shown.lines.end(),
                                      [](const auto& a, const auto& b) { return a.size() < b.size(); });
  REQUIRE(drawn != shown.lines.end());
  CHECK(drawn->size() > 5);
  for (const auto& point : *drawn) {
    CHECK(point.x >= plot.x - 0.01);
    CHECK(point.x <= plot.x + plot.width + 0.01);
    CHECK(point.y >= plot.y - 0.01);
    CHECK(point.y <= plot.y + plot.height + 0.01);
  }
  CHECK(drawn->back().y == Approx(plot.y).margin(0.01));  // it leaves at the top
  // A curve of another series that lies far beyond everything measured is not shown at all, nor named.
  chart.series.push_back({"far away", {}, {{1, 1e30}, {1024, 1e30}}});
  CHECK(test::count(Shown(chart).xml, "text", "far away") == 0);
}

TEST_CASE("the text of a chart stays text", "[draw]") {
  auto chart = two_modes();
  chart.title = "<script>\u202E\xFF\0&"s;
  chart.series[0].name = "</text>\"'<!--\xFF\x01";
  chart.x.title = chart.y.title = chart.subtitle = "a\nb";
  chart.notes = {"]]>\x01 " + std::string(300, 'x') + " " + std::string(40, 'w')};
  const auto shown = test::parse_xml(picture_of(chart, PictureFormat::svg));
  CHECK(shown.error.empty());
  CHECK(test::count(shown, "script") == 0);
  CHECK(test::count(shown, "text", "<script>U+202E\\xFF\\x00&") == 1);
  CHECK(test::count(shown, "text", "</text>\"'<!--\\xFF\\x01") == 1);
  CHECK(test::count(shown, "text", "]]>\\x01") == 1);
  for (const auto format : {PictureFormat::png, PictureFormat::pdf}) CHECK_FALSE(picture_of(chart, format).empty());
}

TEST_CASE("long notes are broken into lines within the page", "[draw]") {
  auto chart = two_modes();
  chart.notes.clear();
  std::string note = "word0";
  for (int i = 1; i < 60; ++i) note += fmt::format(" word{}", i);
  chart.notes = {note, "another"};
  const Shown shown(chart);
  check_sound(shown);
  std::string together;
  for (const auto& text : shown.texts)
    if (text.text.rfind("word", 0) == 0) together += (together.empty() ? "" : " ") + text.text;
  CHECK(together == note);
}

TEST_CASE("a PNG shows the same chart, and a PDF is whole", "[draw]") {
  const auto chart = two_modes();
  const Shown shown(chart);
  const test::DecodedPng png(picture_of(chart, PictureFormat::png));
  CHECK(png.width() == 2 * static_cast<int>(shown.page.width));
  CHECK(png.height() == 2 * static_cast<int>(shown.page.height));
  CHECK(png.at(2, 2) == paper);
  for (std::size_t i = 11; i < 22; ++i)  // of the upper series: nothing is drawn over it
    CHECK(png.at(2 * shown.markers[i].at.x, 2 * shown.markers[i].at.y) == series_colors[1]);
  const auto middle = clipped(shown.lines[0][8], shown.lines[0][8], shown.plot);
  REQUIRE(middle);
  CHECK(png.at(2 * middle->first.x, 2 * middle->first.y) == series_colors[0]);
  const auto pdf = picture_of(chart, PictureFormat::pdf);
  CHECK(pdf.rfind("%PDF-1.", 0) == 0);
  CHECK(pdf.substr(pdf.size() - 6) == "%%EOF\n");
}

TEST_CASE("a chart passes on the error of its sink", "[draw]") {
  for (const auto format : {PictureFormat::png, PictureFormat::svg, PictureFormat::pdf}) {
    test::FullSink sink(100);
    CHECK_THROWS_WITH(draw_line_chart(sink, format, two_modes()), "the disk of the test is full");
    CHECK(sink.writes_after_failure == 0);
  }
}

}  // namespace
}  // namespace qkv::draw
