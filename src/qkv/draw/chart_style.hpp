#pragma once

#include <array>

#include "qkv/draw/canvas.hpp"

namespace qkv::draw {

inline constexpr double label_size = 12;
inline constexpr double label_pitch = 17;  // labels below each other are not closer than this
inline constexpr Color grid_color{229, 229, 233};
inline constexpr Color axis_color{110, 110, 120};

/// Colours of the series, dark enough for text on paper (contrast of 4.4 or more). Any two differ by 0.09 or more in
/// OKLab, also as protanopes, deuteranopes and tritanopes see them; the forms of the markers tell the rest.
inline constexpr std::array<Color, 6> series_colors{
    {{10, 102, 176}, {201, 81, 12}, {34, 34, 40}, {136, 51, 85}, {136, 85, 238}, {0, 85, 0}}};
inline constexpr std::array<MarkerForm, 5> series_forms{MarkerForm::circle, MarkerForm::square, MarkerForm::triangle,
                                                        MarkerForm::diamond, MarkerForm::inverted_triangle};

}  // namespace qkv::draw
