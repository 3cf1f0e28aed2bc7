#include "qkv/tensor/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "qkv/core/checked.hpp"

namespace qkv {

std::optional<std::int64_t> element_count(const Shape& shape) {
  std::optional<std::int64_t> count = 1;
  for (const auto extent : shape) {
    if (extent < 0) return std::nullopt;
    if (count) count = checked_mul(*count, extent);
  }
  return count;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace qkv
