// SVG written out by hand: its text stays text (it can be searched, read aloud and copied, and the viewer finds the
// fonts), and every cell tells its number when it is pointed at. Only the pixels of large tables are an embedded image.

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "qkv/core/base64.hpp"
#include "qkv/draw/canvas.hpp"

namespace qkv::draw {
namespace {

std::string escaped(std::string_view text) {
  std::string xml;
  for (const auto c : text) switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      default:
        xml += c;
    }
  return xml;
}

std::string hex(Color color) { return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue); }

class SvgCanvas : public Canvas {
 public:
  SvgCanvas(Sink& sink, const Page& page) : sink_(sink) {
    append(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{0}\" "
        "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"{2}\" role=\"img\">\n<title>{3}</title>\n",
        page.width, page.height, font_families, escaped(page.title));
    append("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", page.width, page.height, hex(paper));
  }

  void fill(const Box& box, Color color, std::string_view note) override {
    append(R"(<rect x="{:.6g}" y="{:.6g}" width="{:.6g}" height="{:.6g}" fill="{}")", box.x, box.y, box.width,
           box.height, hex(color));
    if (note.empty())
      append("/>\n");
    else
      append("><title>{}</title></rect>\n", escaped(note));
  }

  void frame(const Box& box, Color color) override {
    append(R"(<rect x="{:.6g}" y="{:.6g}" width="{:.6g}" height="{:.6g}" fill="none" stroke="{}"/>)", box.x - 0.5,
           box.y - 0.5, box.width + 1, box.height + 1, hex(color));
    append("\n");
  }

  void polyline(std::span<const Point> points, const Stroke& stroke) override {
    append("<polyline points=\"");
    append_points(points);
    append(R"(" fill="none" stroke="{}" stroke-width="{:.4g}" stroke-linejoin="round"/>)", hex(stroke.color),
           stroke.width);
    append("\n");
  }

  void marker(Point at, const Marker& marker, std::string_view note) override {
    const auto* const element = marker.form == MarkerForm::circle ? "circle" : "polygon";
    if (marker.form == MarkerForm::circle) {
      append(R"(<circle cx="{:.6g}" cy="{:.6g}" r="{:.4g}")", at.x, at.y, marker.size / 2);
    } else {
      append("<polygon points=\"");
      append_points(corners(at, marker));
      append("\"");
    }
    append(R"( fill="{}" stroke="{}" stroke-width="{:.4g}")", hex(marker.color), hex(paper), marker_rim);
    if (note.empty())
      append("/>\n");
    else
      append("><title>{}</title></{}>\n", escaped(note), element);
  }

  void text(Point at, std::string_view text, const TextStyle& style) override {
    constexpr std::array anchors{"start", "middle", "end"};
    append(R"(<text font-size="{:.4g}" fill="{}")", style.size, hex(style.color));
    if (style.bold) append(R"( font-weight="bold")");
    if (style.anchor != Anchor::start) append(R"( text-anchor="{}")", anchors[static_cast<std::size_t>(style.anchor)]);
    const auto drop = baseline_drop * style.size;
    if (style.angle == 0)
      append(R"( x="{:.6g}" y="{:.6g}")", at.x, at.y + drop);
    else
      append(R"xml( transform="translate({:.6g} {:.6g}) rotate({:.6g})" y="{:.4g}")xml", at.x, at.y, -style.angle,
             drop);
    append(">{}</text>\n", escaped(text));
  }

  void image(const Box& box, const Pixels& pixels) override {
    append(R"(<image x="{:.6g}" y="{:.6g}" width="{:.6g}" height="{:.6g}" preserveAspectRatio="none" )", box.x, box.y,
           box.width, box.height);
    append(R"(style="image-rendering:pixelated" xlink:href="data:image/png;base64,)");
    sink_.write(buffer_);
    buffer_.clear();
    sink_.write(to_base64(png_bytes(pixels)));
    append("\"/>\n");
  }

  void finish() override {
    append("</svg>\n");
    sink_.write(buffer_);
    buffer_.clear();
  }

 private:
  void append_points(std::span<const Point> points) {
    for (std::size_t i = 0; i < points.size(); ++i)
      append("{}{:.6g},{:.6g}", i == 0 ? "" : " ", points[i].x, points[i].y);
  }

  template <typename... Values>
  void append(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    if (buffer_.size() < 1U << 16U) return;
    sink_.write(buffer_);
    buffer_.clear();
  }

  Sink& sink_;
  std::string buffer_;
};

}  // namespace

std::unique_ptr<Canvas> svg_canvas(Sink& sink, const Page& page) { return std::make_unique<SvgCanvas>(sink, page); }

}  // namespace qkv::draw
