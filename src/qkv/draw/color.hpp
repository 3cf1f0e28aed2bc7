#pragma once

#include <cstdint>

namespace qkv {

/// An sRGB colour.
struct Color {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;

  friend bool operator==(const Color&, const Color&) = default;
};

/// The page, and what is written on it.
inline constexpr Color paper{255, 255, 255};
inline constexpr Color ink{34, 34, 40};
/// For what stands beside the matter: subtitles, notes.
inline constexpr Color quiet_ink{96, 96, 106};

/// Black or white ink, whichever reads better on `background`.
[[nodiscard]] Color readable_on(Color background);

}  // namespace qkv
