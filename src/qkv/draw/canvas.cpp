#include "qkv/draw/canvas.hpp"

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

}  // namespace qkv::draw
