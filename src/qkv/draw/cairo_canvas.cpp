// PNG and PDF, through cairo for the drawing and Pango for the text: tokens can be in any script, and Pango finds a
// font for each character, joins Arabic and Indic letters, and orders right-to-left text.

#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <pango/pangocairo.h>

#include <exception>
#include <numbers>

#include "qkv/core/error.hpp"
#include "qkv/draw/canvas.hpp"

namespace qkv::draw {
namespace {

/// Frees a handle of a C library.
template <auto release>
struct Release {
  template <typename T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using Surface = std::unique_ptr<cairo_surface_t, Release<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Release<cairo_destroy>>;
using Pattern = std::unique_ptr<cairo_pattern_t, Release<cairo_pattern_destroy>>;
using FontOptions = std::unique_ptr<cairo_font_options_t, Release<cairo_font_options_destroy>>;
using TextLayout = std::unique_ptr<PangoLayout, Release<g_object_unref>>;
using Font = std::unique_ptr<PangoFontDescription, Release<pango_font_description_free>>;

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(ErrorCode::failed, fmt::format("picture: cannot be drawn: {}", cairo_status_to_string(status)));
}

/// Carries bytes from cairo's callback into a Sink. An exception may not cross the C code between them: it is kept,
/// cairo is told that writing failed, and rethrow() lets it go on.
class Outlet {
 public:
  explicit Outlet(Sink& sink) : sink_(sink) {}

  static cairo_status_t write(void* self, const unsigned char* bytes, unsigned int length) {
    return static_cast<Outlet*>(self)->pass({reinterpret_cast<const char*>(bytes), length});
  }

  /// From now on nothing is written any more: cairo flushes documents also when they are given up.
  void close() { open_ = false; }

  /// Throws what the sink threw, or else an error for a status that is not success.
  void rethrow(cairo_status_t status) const {
    if (error_) std::rethrow_exception(error_);
    check(status);
  }

 private:
  cairo_status_t pass(std::string_view bytes) {
    if (!open_) return CAIRO_STATUS_WRITE_ERROR;
    try {
      sink_.write(bytes);
      return CAIRO_STATUS_SUCCESS;
    } catch (...) {
      error_ = std::current_exception();
      open_ = false;
      return CAIRO_STATUS_WRITE_ERROR;
    }
  }

  Sink& sink_;
  bool open_ = true;
  std::exception_ptr error_;
};

/// A line of text, shaped. Its widths are those of the unhinted outlines, the same on every surface.
TextLayout shaped(cairo_t* context, std::string_view text, double size, bool bold) {
  TextLayout layout(pango_cairo_create_layout(context));
  const FontOptions options(cairo_font_options_create());
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  auto* const pango = pango_layout_get_context(layout.get());
  pango_cairo_context_set_font_options(pango, options.get());
  pango_context_set_base_dir(pango, PANGO_DIRECTION_LTR);
  pango_context_set_round_glyph_positions(pango, FALSE);
  pango_layout_context_changed(layout.get());
  pango_layout_set_auto_dir(layout.get(), FALSE);  // the mark of a leading space stays on the left
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);

  const Font font(pango_font_description_new());
  pango_font_description_set_family_static(font.get(), font_families);
  pango_font_description_set_absolute_size(font.get(), size * PANGO_SCALE);
  pango_font_description_set_weight(font.get(), bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description(layout.get(), font.get());
  pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
  return layout;
}

double width_of(PangoLayout* layout) {
  PangoRectangle logical{};
  pango_layout_get_extents(layout, nullptr, &logical);
  return static_cast<double>(logical.width) / PANGO_SCALE;
}

Surface to_surface(const Pixels& pixels) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels.width, pixels.height));
  check(cairo_surface_status(surface.get()));
  auto* const data = cairo_image_surface_get_data(surface.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface.get()));
  const auto width = static_cast<std::size_t>(pixels.width);
  for (std::size_t y = 0; y < static_cast<std::size_t>(pixels.height); ++y) {
    auto* const line = reinterpret_cast<std::uint32_t*>(data + y * stride);
    for (std::size_t x = 0; x < width; ++x) {
      const auto color = pixels.colors[y * width + x];
      line[x] = std::uint32_t{color.red} << 16U | std::uint32_t{color.green} << 8U | std::uint32_t{color.blue};
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

class CairoCanvas : public Canvas {
 public:
  ~CairoCanvas() override { outlet_.close(); }
  CairoCanvas(const CairoCanvas&) = delete;
  CairoCanvas& operator=(const CairoCanvas&) = delete;

  void fill(const Box& box, Color color, std::string_view /*note*/) override {
    use(color);
    cairo_rectangle(context(), box.x, box.y, box.width, box.height);
    cairo_fill(context());
  }

  void frame(const Box& box, Color color) override {
    use(color);
    cairo_set_line_width(context(), 1);
    cairo_rectangle(context(), box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
    cairo_stroke(context());
  }

  void polyline(std::span<const Point> points, const Stroke& stroke) override {
    cairo_save(context());
    cairo_set_antialias(context(), CAIRO_ANTIALIAS_GRAY);
    cairo_set_line_join(context(), CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(context(), stroke.width);
    use(stroke.color);
    trace(points);
    cairo_stroke(context());
    cairo_restore(context());
  }

  void marker(Point at, const Marker& marker, std::string_view /*note*/) override {
    cairo_save(context());
    cairo_set_antialias(context(), CAIRO_ANTIALIAS_GRAY);
    cairo_new_path(context());
    if (marker.form == MarkerForm::circle)
      cairo_arc(context(), at.x, at.y, marker.size / 2, 0, 2 * std::numbers::pi);
    else
      trace(corners(at, marker));
    cairo_close_path(context());
    use(marker.color);
    cairo_fill_preserve(context());
    use(paper);
    cairo_set_line_width(context(), marker_rim);
    cairo_stroke(context());
    cairo_restore(context());
  }

  void text(Point at, std::string_view text, const TextStyle& style) override {
    const auto layout = shaped(context(), text, style.size, style.bold);
    const auto width = width_of(layout.get());
    const auto shift = style.anchor == Anchor::start ? 0 : style.anchor == Anchor::middle ? width / 2 : width;
    cairo_save(context());
    use(style.color);
    cairo_translate(context(), at.x, at.y);
    cairo_rotate(context(), -style.angle * std::numbers::pi / 180);
    cairo_move_to(context(), -shift, baseline_drop * style.size);
    pango_cairo_show_layout_line(context(), pango_layout_get_line_readonly(layout.get(), 0));
    cairo_restore(context());
  }

  void image(const Box& box, const Pixels& pixels) override {
    const auto surface = to_surface(pixels);
    const Pattern pattern(cairo_pattern_create_for_surface(surface.get()));
    cairo_pattern_set_filter(pattern.get(), CAIRO_FILTER_NEAREST);
    cairo_save(context());
    cairo_translate(context(), box.x, box.y);
    cairo_scale(context(), box.width / pixels.width, box.height / pixels.height);
    cairo_set_source(context(), pattern.get());
    cairo_rectangle(context(), 0, 0, pixels.width, pixels.height);
    cairo_fill(context());
    cairo_restore(context());
  }

 protected:
  explicit CairoCanvas(Sink& sink) : outlet_(sink) {}

  /// Draws on `surface`, `scale` of its units a pixel.
  void open(Surface surface, double scale, const Page& page) {
    surface_ = std::move(surface);
    check(cairo_surface_status(surface_.get()));
    context_.reset(cairo_create(surface_.get()));
    check(cairo_status(context()));
    cairo_scale(context(), scale, scale);
    cairo_set_antialias(context(), CAIRO_ANTIALIAS_NONE);  // lines and rectangles lie on whole pixels; text is smooth
    fill({0, 0, static_cast<double>(page.width), static_cast<double>(page.height)}, paper, {});
  }

  [[nodiscard]] cairo_t* context() const { return context_.get(); }
  [[nodiscard]] cairo_surface_t* surface() const { return surface_.get(); }
  [[nodiscard]] Outlet& outlet() { return outlet_; }

 private:
  void trace(std::span<const Point> points) {
    cairo_new_path(context());
    for (const auto& point : points) cairo_line_to(context(), point.x, point.y);
  }

  void use(Color color) { cairo_set_source_rgb(context(), color.red / 255.0, color.green / 255.0, color.blue / 255.0); }

  Outlet outlet_;  // outlives the surface, which may still want to write when it goes
  Surface surface_;
  Context context_;
};

class PngCanvas : public CairoCanvas {
 public:
  PngCanvas(Sink& sink, const Page& page, int scale) : CairoCanvas(sink) {
    open(Surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, page.width * scale, page.height * scale)), scale, page);
  }

  void finish() override {
    check(cairo_status(context()));
    outlet().rethrow(cairo_surface_write_to_png_stream(surface(), &Outlet::write, &outlet()));
  }
};

class PdfCanvas : public CairoCanvas {
 public:
  PdfCanvas(Sink& sink, const Page& page) : CairoCanvas(sink) {
    constexpr double points = 0.75;  // 96 pixels and 72 points are an inch
    open(Surface(
             cairo_pdf_surface_create_for_stream(&Outlet::write, &outlet(), page.width * points, page.height * points)),
         points, page);
    cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_TITLE, page.title.c_str());
    cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_CREATOR, "qkv");
  }

  void finish() override {
    outlet().rethrow(cairo_status(context()));
    cairo_surface_finish(surface());
    outlet().rethrow(cairo_surface_status(surface()));
  }
};

}  // namespace

std::unique_ptr<Canvas> png_canvas(Sink& sink, const Page& page, int scale) {
  return std::make_unique<PngCanvas>(sink, page, scale);
}

std::unique_ptr<Canvas> pdf_canvas(Sink& sink, const Page& page) { return std::make_unique<PdfCanvas>(sink, page); }

double text_width(std::string_view text, double size, bool bold) {
  const Surface nowhere(cairo_recording_surface_create(CAIRO_CONTENT_ALPHA, nullptr));
  const Context context(cairo_create(nowhere.get()));
  return width_of(shaped(context.get(), text, size, bold).get());
}

std::string png_bytes(const Pixels& pixels) {
  struct Text : Sink {
    std::string bytes;
    void write(std::string_view more) override { bytes += more; }
  } text;
  Outlet outlet(text);
  outlet.rethrow(cairo_surface_write_to_png_stream(to_surface(pixels).get(), &Outlet::write, &outlet));
  return std::move(text.bytes);
}

}  // namespace qkv::draw
