#include "qkv/draw/canvas.hpp"

#include <cmath>
#include <numbers>

namespace qkv::draw {

std::unique_ptr<Canvas> open_canvas(Sink& sink, PictureFormat format, const Page& page, int png_scale) {
  switch (format) {
    case PictureFormat::svg:
      return svg_canvas(sink, page);
    case PictureFormat::pdf:
      return pdf_canvas(sink, page);
    case PictureFormat::png:
      break;
  }
  return png_canvas(sink, page, png_scale);
}

std::vector<Point> corners(Point at, const Marker& marker) {
  if (marker.form == MarkerForm::circle) return {};
  const bool three = marker.form == MarkerForm::triangle || marker.form == MarkerForm::inverted_triangle;
  const int n = three ? 3 : 4;
  const auto turn = 2 * std::numbers::pi / n;
  // A regular polygon of n corners on a circle of radius r covers n/2 r^2 sin(2 pi / n).
  const auto radius = marker.size / 2 * std::sqrt(turn / std::sin(turn));
  auto angle = marker.form == MarkerForm::square              ? std::numbers::pi / 4
               : marker.form == MarkerForm::inverted_triangle ? std::numbers::pi
                                                              : 0.0;
  std::vector<Point> points;
  for (int i = 0; i < n; ++i, angle += turn)
    points.push_back({at.x + radius * std::sin(angle), at.y - radius * std::cos(angle)});
  return points;
}

}  // namespace qkv::draw
