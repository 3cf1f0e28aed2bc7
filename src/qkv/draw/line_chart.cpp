#include "qkv/draw/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "qkv/draw/chart_labels.hpp"
#include "qkv/draw/chart_style.hpp"
#include "qkv/draw/printable.hpp"

namespace qkv::draw {
namespace {

constexpr double margin = 16;
constexpr double plot_width = 560;
constexpr double plot_height = 350;
constexpr double note_pitch = 16;
constexpr std::size_t many_points = 40;  // more of them get smaller markers

/// The smallest and the largest of some numbers.
struct Extent {
  double low = 0;
  double high = 0;  // 0: none yet

  void add(double value) {
    low = high > 0 ? std::min(low, value) : value;
    high = std::max(high, value);
  }
  /// Takes in another extent, a factor of ten beyond this one at most.
  void stretch(const Extent& other) {
    if (other.high <= 0) return;
    const auto [least, most] = high > 0 ? std::pair{low / 10, high * 10} : std::pair{other.low, other.high};
    add(std::clamp(other.low, least, most));
    add(std::clamp(other.high, least, most));
  }
};

/// A series as far as it can be shown.
struct Trace {
  std::string name;
  Color color;
  MarkerForm form;
  std::vector<Point> points;
  std::vector<Point> line;
};

struct Layout {
  Box plot;
  AxisScale x;
  AxisScale y;
  std::vector<Trace> traces;
  std::vector<LineLabel> labels;  // one a trace
  std::vector<std::string> notes;
  double notes_top;
  Page page;

  [[nodiscard]] Point at(Point point) const { return {x.at(point.x), y.at(point.y)}; }
};

std::vector<Point> shown(const std::vector<Point>& points) {
  const auto can_be_shown = [](double value) { return value >= 1e-99 && value <= 1e99; };
  std::vector<Point> kept;
  for (const auto& point : points)
    if (can_be_shown(point.x) && can_be_shown(point.y)) kept.push_back(point);
  std::stable_sort(kept.begin(), kept.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return kept;
}

/// The series that have something to show. A series keeps its colour when one before it has nothing.
std::vector<Trace> traces_of(const LineChart& chart) {
  std::vector<Trace> traces;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto& series = chart.series[i];
    Trace trace{printable_text(series.name, 60), series_colors[i % series_colors.size()],
                series_forms[i % series_forms.size()], shown(series.points), shown(series.curve)};
    if (trace.line.empty()) trace.line = trace.points;
    if (!trace.line.empty()) traces.push_back(std::move(trace));
  }
  return traces;
}

Extent extent_of(const std::vector<Trace>& traces, double Point::*coordinate) {
  Extent points;
  Extent lines;
  for (const auto& trace : traces) {
    for (const auto& point : trace.points) points.add(point.*coordinate);
    for (const auto& point : trace.line) lines.add(point.*coordinate);
  }
  points.stretch(lines);
  return points.high > 0 ? points : Extent{1, 1};
}

/// Breaks a text between words into lines of at most `width` pixels. A longer word has a line of its own.
std::vector<std::string> broken(std::string_view text, double width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    auto longer = lines.empty() ? std::string(word) : fmt::format("{} {}", lines.back(), word);
    if (!lines.empty() && text_width(longer, TextStyle{}.size) <= width)
      lines.back() = std::move(longer);
    else
      lines.emplace_back(word);
  }
  return lines;
}

/// The parts of a trace's line that lie in the plot, in pixels.
std::vector<std::vector<Point>> visible_parts(const Trace& trace, const Layout& layout) {
  std::vector<std::vector<Point>> parts;
  Point last{};  // where the part before ends, unless it left the plot there
  for (std::size_t i = 1; i < trace.line.size(); ++i) {
    const auto to = layout.at(trace.line[i]);
    const auto part = clipped(layout.at(trace.line[i - 1]), to, layout.plot);
    if (!part) continue;
    const bool goes_on = !parts.empty() && part->first.x == last.x && part->first.y == last.y;
    if (!goes_on) parts.push_back({part->first});
    parts.back().push_back(part->second);
    last = part->second;
  }
  return parts;
}

/// The trace as far as it is seen, for the placing of its name.
NamedLine named_line(const Trace& trace, const Layout& layout) {
  NamedLine line{{}, text_width(trace.name, label_size)};
  for (const auto& part : visible_parts(trace, layout)) line.points.insert(line.points.end(), part.begin(), part.end());
  for (const auto& point : trace.points) line.points.push_back(layout.at(point));
  std::stable_sort(line.points.begin(), line.points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return line;
}

double widest(const std::vector<AxisTick>& ticks) {
  double width = 0;
  for (const auto& tick : ticks) width = std::max(width, text_width(tick.label, label_size));
  return width;
}

Layout lay_out(const LineChart& chart) {
  auto traces = traces_of(chart);
  const auto title = printable_text(chart.title, 100);
  const double top = 62 + (chart.subtitle.empty() ? 0 : 22) + (chart.y.title.empty() ? 0 : 14);
  const auto height = std::max(plot_height, label_pitch * static_cast<double>(traces.size()));
  const auto x = extent_of(traces, &Point::x);
  const auto y = extent_of(traces, &Point::y);
  const AxisScale y_scale(chart.y, y.low, y.high, top + height, top);
  const auto left = std::ceil(margin + widest(y_scale.ticks(false)) + 12);
  Layout layout{{left, top, plot_width, height},
                AxisScale(chart.x, x.low, x.high, left, left + plot_width),
                y_scale,
                std::move(traces),
                {},
                {},
                top + height + 66,
                {0, 0, title}};

  const auto right = left + plot_width;
  std::erase_if(layout.traces, [&](const Trace& trace) { return named_line(trace, layout).points.empty(); });
  std::vector<NamedLine> lines;
  for (const auto& trace : layout.traces) lines.push_back(named_line(trace, layout));
  layout.labels = place_labels(lines, layout.plot);
  auto width = right + margin;
  for (std::size_t i = 0; i < lines.size(); ++i) width = std::max(width, layout.labels[i].at.x + lines[i].name_width);
  width = std::max(width, margin + text_width(title, 16, true));
  for (const auto& note : chart.notes)
    for (auto& line : broken(printable_text(note, 1000), width - margin)) layout.notes.push_back(std::move(line));
  layout.page.width = static_cast<int>(std::ceil(width + margin));
  layout.page.height = static_cast<int>(layout.notes_top + note_pitch * static_cast<double>(layout.notes.size()) + 4);
  return layout;
}

void draw_axes(Canvas& canvas, const LineChart& chart, const Layout& layout) {
  const auto& plot = layout.plot;
  const auto bottom = plot.y + plot.height;
  for (const auto& tick : layout.x.ticks(true)) {
    canvas.fill({std::floor(tick.at), plot.y, 1, plot.height}, grid_color);
    canvas.fill({std::floor(tick.at), bottom, 1, 5}, axis_color);
    canvas.text({tick.at, bottom + 16}, tick.label, {.size = label_size, .anchor = Anchor::middle});
  }
  for (const auto& tick : layout.y.ticks(false)) {
    canvas.fill({plot.x, std::floor(tick.at), plot.width, 1}, grid_color);
    canvas.fill({plot.x - 5, std::floor(tick.at), 5, 1}, axis_color);
    canvas.text({plot.x - 9, tick.at}, tick.label, {.size = label_size, .anchor = Anchor::end});
  }
  canvas.fill({plot.x, plot.y, 1, plot.height}, axis_color);
  canvas.fill({plot.x, bottom, plot.width, 1}, axis_color);
  canvas.text({plot.x + plot.width / 2, bottom + 40}, printable_text(chart.x.title, 80),
              {.size = label_size, .bold = true, .anchor = Anchor::middle});
  canvas.text({margin, plot.y - 18}, printable_text(chart.y.title, 80), {.size = label_size, .bold = true});
}

void draw_markers(Canvas& canvas, const LineChart& chart, const Layout& layout, const Trace& trace) {
  const Marker marker{trace.form, trace.color, trace.points.size() > many_points ? 5.0 : 8.0};
  for (const auto& point : trace.points)
    canvas.marker(layout.at(point), marker,
                  fmt::format("{}, {}: {}", trace.name, quantity_text(chart.x.quantity, point.x),
                              quantity_text(chart.y.quantity, point.y)));
}

void draw_name(Canvas& canvas, const Layout& layout, const Trace& trace, const LineLabel& label) {
  const auto line = named_line(trace, layout);
  if (label.inside) canvas.fill(label_room(label.at, line.name_width), paper);  // no grid behind it
  canvas.text(label.at, trace.name, {.size = label_size, .color = trace.color});
  if (label.at_end) return;
  const auto end = line.points.back();
  const auto right = layout.plot.x + layout.plot.width;
  const std::array leader{end, Point{right + 3, end.y}, Point{label.at.x - 4, label.at.y}};
  canvas.polyline(leader, {trace.color, 0.75});
}

void draw_traces(Canvas& canvas, const LineChart& chart, const Layout& layout) {
  for (std::size_t i = 0; i < layout.traces.size(); ++i) draw_name(canvas, layout, layout.traces[i], layout.labels[i]);
  for (const auto& trace : layout.traces)
    for (const auto& part : visible_parts(trace, layout)) canvas.polyline(part, {trace.color, 1.5});
  for (const auto& trace : layout.traces) draw_markers(canvas, chart, layout, trace);
  if (layout.traces.empty())
    canvas.text({layout.plot.x + layout.plot.width / 2, layout.plot.y + layout.plot.height / 2}, "nothing to show",
                {.size = label_size, .color = quiet_ink, .anchor = Anchor::middle});
}

}  // namespace

void draw_line_chart(Sink& sink, PictureFormat format, const LineChart& chart) {
  const auto layout = lay_out(chart);
  const auto canvas = open_canvas(sink, format, layout.page, 2);
  canvas->text({margin, 27}, layout.page.title, {.size = 16, .bold = true});
  canvas->text({margin, 50}, printable_text(chart.subtitle, 120), {.color = quiet_ink});
  draw_axes(*canvas, chart, layout);
  draw_traces(*canvas, chart, layout);
  for (std::size_t i = 0; i < layout.notes.size(); ++i)
    canvas->text({margin, layout.notes_top + note_pitch * static_cast<double>(i)}, layout.notes[i],
                 {.color = quiet_ink});
  canvas->finish();
}

}  // namespace qkv::draw
