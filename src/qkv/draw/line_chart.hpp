#pragma once

#include <string>
#include <vector>

#include "qkv/draw/canvas.hpp"
#include "qkv/draw/chart_axis.hpp"
#include "qkv/draw/picture_format.hpp"
#include "qkv/io/sink.hpp"

namespace qkv::draw {

struct ChartSeries {
  std::string name;           // stands at the end of the line
  std::vector<Point> points;  // what was measured: a marker each, joined by a thin line where there is no curve
  std::vector<Point> curve;   // a line fitted to them, in steps that look smooth; may be empty
};

struct LineChart {
  std::string title;
  std::string subtitle;
  ChartAxis x{.title = {}, .quantity = Quantity::count, .logarithmic = true};
  ChartAxis y{.title = {}, .quantity = Quantity::seconds, .logarithmic = true};
  std::vector<ChartSeries> series;
  std::vector<std::string> notes;  // below the chart, broken into lines where they are long
};

/// Draws numbers against numbers. Points may come in any order. Those that cannot be shown are left out: coordinates
/// that are not finite, zero or negative, or beyond 1e99 or 1e-99. The axes follow the measured points, and the curves
/// up to a decade beyond them; what a curve has outside of them is cut off. The text may hold any bytes. Throws
/// what `sink` throws.
void draw_line_chart(Sink& sink, PictureFormat format, const LineChart& chart);

}  // namespace qkv::draw
