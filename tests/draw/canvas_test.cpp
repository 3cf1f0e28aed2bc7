#include "qkv/draw/canvas.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/sinks.hpp"

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

}  // namespace
}  // namespace qkv::draw
