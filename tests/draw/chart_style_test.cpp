#include "qkv/draw/chart_style.hpp"

#include <algorithm>
#include <array>

#include "support/catch.hpp"
#include "support/oklab.hpp"

namespace qkv::draw {
namespace {

using test::Channels;
using Matrix = std::array<Channels, 3>;

/// What a colour becomes for an eye that lacks one kind of cone: the matrices for linear RGB of Machado, Oliveira and
/// Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009.
constexpr std::array<Matrix, 4> eyes{{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};

Channels seen(const Matrix& eye, Color color) {
  const auto rgb = test::linear(color);
  Channels result{};
  for (std::size_t i = 0; i < 3; ++i)
    result[i] = std::max(0.0, eye[i][0] * rgb[0] + eye[i][1] * rgb[1] + eye[i][2] * rgb[2]);
  return result;
}

TEST_CASE("series have colours that differ for every eye, and that text can be read in", "[draw]") {
  for (std::size_t i = 0; i < series_colors.size(); ++i) {
    const auto [r, g, b] = test::linear(series_colors[i]);
    CAPTURE(i);
    CHECK(1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) >= 4.4);
    for (std::size_t other = 0; other < i; ++other)
      for (const auto& eye : eyes) {
        CAPTURE(other, &eye - eyes.data());
        CHECK(test::distance(test::oklab(seen(eye, series_colors[i])), test::oklab(seen(eye, series_colors[other]))) >=
              0.09);
      }
  }
}

}  // namespace
}  // namespace qkv::draw
