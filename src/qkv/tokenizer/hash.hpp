#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace qkv::tokenizing {

/// Spreads a number over all 64 bits.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15U;
  value ^= value >> 32U;
  value *= 0xD6E8FEB86659FD93U;
  return value ^ (value >> 29U);
}

[[nodiscard]] inline std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = bytes.size();
  std::uint64_t eight = 0;
  while (bytes.size() > sizeof(eight)) {
    std::memcpy(&eight, bytes.data(), sizeof(eight));
    hash = mix(hash ^ eight);
    bytes.remove_prefix(sizeof(eight));
  }
  eight = 0;
  if (!bytes.empty()) std::memcpy(&eight, bytes.data(), bytes.size());
  return mix(hash ^ eight);
}

/// The size for an open-addressing table of `n` entries: a power of two that leaves half of it empty.
[[nodiscard]] inline std::size_t table_size(std::size_t n) {
  std::size_t size = 16;
  while (size < 2 * n) size *= 2;
  return size;
}

}  // namespace qkv::tokenizing
