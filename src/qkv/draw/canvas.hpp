#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/draw/color.hpp"
#include "qkv/draw/picture_format.hpp"
#include "qkv/io/sink.hpp"

namespace qkv::draw {

struct Point {
  double x;
  double y;
};

struct Box {
  double x;
  double y;
  double width;
  double height;
};

/// A small picture inside the picture, row by row from the top.
struct Pixels {
  int width;
  int height;
  std::vector<Color> colors;
};

enum class MarkerForm { circle, square, triangle, diamond, inverted_triangle };

/// What a measured point is drawn as. A thin rim of paper keeps it apart from what lies below it.
struct Marker {
  MarkerForm form = MarkerForm::circle;
  Color color = ink;
  double size = 8;  // the diameter of the circle; the other forms have its area
};

struct Stroke {
  Color color = ink;
  double width = 1;
};

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 11;  // pixels
  bool bold = false;
  Color color = ink;
  Anchor anchor = Anchor::start;
  double angle = 0;  // degrees, counterclockwise
};

/// What a picture is drawn on: one implementation per file format. Lengths are pixels from the upper left corner. Texts
/// are valid UTF-8 without control characters (printable.hpp makes them). Failures throw Error{failed}.
class Canvas {
 public:
  virtual ~Canvas() = default;
  /// `note` appears where a format can show one when it is pointed at.
  virtual void fill(const Box& box, Color color, std::string_view note = {}) = 0;
  /// A line of one pixel around the box, outside of it.
  virtual void frame(const Box& box, Color color) = 0;
  /// A line from point to point.
  virtual void polyline(std::span<const Point> points, const Stroke& stroke) = 0;
  virtual void marker(Point at, const Marker& marker, std::string_view note = {}) = 0;
  /// `at` is the middle of the line's height, and the point of it that the anchor says.
  virtual void text(Point at, std::string_view text, const TextStyle& style) = 0;
  /// The pixels, each a sharp rectangle, over the whole of the box.
  virtual void image(const Box& box, const Pixels& pixels) = 0;
  /// Writes what was drawn.
  virtual void finish() = 0;
};

/// How large the canvas is, and what its document is called where the format can say that.
struct Page {
  int width;
  int height;
  std::string title;
};

/// `png_scale`: device pixels a pixel in a PNG, a whole number.
[[nodiscard]] std::unique_ptr<Canvas> open_canvas(Sink& sink, PictureFormat format, const Page& page, int png_scale);
[[nodiscard]] std::unique_ptr<Canvas> png_canvas(Sink& sink, const Page& page, int scale);
[[nodiscard]] std::unique_ptr<Canvas> pdf_canvas(Sink& sink, const Page& page);
[[nodiscard]] std::unique_ptr<Canvas> svg_canvas(Sink& sink, const Page& page);

/// The fonts asked for, best first.
inline constexpr const char* font_families = "DejaVu Sans, Verdana, sans-serif";

/// From the middle of a line of text down to its baseline, in units of the font size.
inline constexpr double baseline_drop = 0.36;

/// How wide the rim of a marker is; half of it lies inside.
inline constexpr double marker_rim = 1;

/// The corners of a marker; none for a circle.
[[nodiscard]] std::vector<Point> corners(Point at, const Marker& marker);

/// How wide a text is on the canvases that draw glyphs, in pixels.
[[nodiscard]] double text_width(std::string_view text, double size, bool bold = false);

/// The pixels as a PNG file.
[[nodiscard]] std::string png_bytes(const Pixels& pixels);

}  // namespace qkv::draw
