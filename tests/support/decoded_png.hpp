#pragma once

#include <cairo.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "qkv/draw/color.hpp"
#include "support/catch.hpp"

namespace qkv::test {

/// A PNG file, decoded.
class DecodedPng {
 public:
  explicit DecodedPng(const std::string& bytes) : rest_(bytes) {
    surface_.reset(cairo_image_surface_create_from_png_stream(
        [](void* self, unsigned char* to, unsigned int length) {
          auto& rest = static_cast<DecodedPng*>(self)->rest_;
          if (rest.size() < length) return CAIRO_STATUS_READ_ERROR;
          std::memcpy(to, rest.data(), length);
          rest.remove_prefix(length);
          return CAIRO_STATUS_SUCCESS;
        },
        this));
    REQUIRE(cairo_surface_status(surface_.get()) == CAIRO_STATUS_SUCCESS);
  }

  [[nodiscard]] int width() const { return cairo_image_surface_get_width(surface_.get()); }
  [[nodiscard]] int height() const { return cairo_image_surface_get_height(surface_.get()); }
  [[nodiscard]] Color at(double x, double y) const {
    const auto* line = cairo_image_surface_get_data(surface_.get()) +
                       static_cast<int>(y) * cairo_image_surface_get_stride(surface_.get());
    std::uint32_t pixel = 0;
    std::memcpy(&pixel, line + 4 * static_cast<int>(x), 4);
    const auto channel = [&](unsigned shift) { return static_cast<std::uint8_t>(pixel >> shift & 255U); };
    return {channel(16), channel(8), channel(0)};
  }

 private:
  struct Destroy {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  };
  std::string_view rest_;
  std::unique_ptr<cairo_surface_t, Destroy> surface_;
};

}  // namespace qkv::test
