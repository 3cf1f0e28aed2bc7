#include "qkv/inspect/writers/picture_raster.hpp"

#include <cmath>
#include <limits>

namespace qkv::picture {

Raster::Raster(const Cells& down, const Cells& across)
    : down_(down),
      across_(across),
      bins_(static_cast<std::size_t>(down.bins() * across.bins()), std::numeric_limits<float>::quiet_NaN()) {}

void Raster::add(std::int64_t row, std::span<const float> numbers) {
  const auto width = static_cast<std::size_t>(across_.bins());
  const auto merge = static_cast<std::size_t>(across_.merge);
  const auto line = std::span(bins_).subspan(static_cast<std::size_t>(row / down_.merge) * width, width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto& bin = line[i / merge];
    if (std::isnan(bin) || std::abs(numbers[i]) > std::abs(bin)) bin = std::isnan(numbers[i]) ? bin : numbers[i];
  }
}

}  // namespace qkv::picture
