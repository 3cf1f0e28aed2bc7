#pragma once

#include <bit>
#include <span>
#include <string_view>

namespace qkv {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers, written as they lie");

/// The bytes of f32 numbers, as they lie in memory.
[[nodiscard]] inline std::string_view raw_numbers(std::span<const float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

}  // namespace qkv
