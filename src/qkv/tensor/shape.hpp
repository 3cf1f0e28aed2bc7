#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qkv {

/// Extents of a tensor, slowest first. Extents from files are not trusted: see element_count.
using Shape = std::vector<std::int64_t>;

/// The product of the extents; nothing when an extent is negative or the product does not fit 64 bits.
[[nodiscard]] std::optional<std::int64_t> element_count(const Shape& shape);

/// "[768, 3072]"
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace qkv
