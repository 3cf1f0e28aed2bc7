#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "qkv/tensor/matrix.hpp"
#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("buffers of every size are aligned for vectors and can be written to their end", "[tensor]") {
  for (const std::int64_t count : {0L, 1L, 15L, 1000L, (1L << 21U) - 1, 1L << 21U, (1L << 21U) + 1, 5'000'001L}) {
    CAPTURE(count);
    const Buffer buffer(count);
    CHECK(buffer.size() == count);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    for (std::int64_t i = 0; i < count; ++i) buffer.data()[i] = 1.0F;
    if (count > 0) CHECK(buffer.view(1, count).at(0, count - 1) == 1.0F);
  }
}

TEST_CASE("buffers beside others are aligned, overlap nowhere and outlive each other", "[tensor]") {
  std::vector<Buffer> buffers;
  const auto fill = [&](std::size_t number) {
    auto& buffer = buffers[number];
    std::fill_n(buffer.data(), buffer.size(), static_cast<float>(number));
  };
  for (const std::int64_t count : {0L, 1L, 17L, 300'000L, 1'500'000L, 2'000'000L, 2'000'001L, 2'200'000L, 9'000'000L})
    for (int times = 0; times < 3; ++times) {
      buffers.push_back(Buffer::beside_others(count));
      CHECK(buffers.back().size() == count);
      CHECK(reinterpret_cast<std::uintptr_t>(buffers.back().data()) % 64 == 0);
      fill(buffers.size() - 1);
    }
  for (std::size_t gone = 0; gone < buffers.size(); gone += 2) buffers[gone] = Buffer();
  for (std::size_t gone = 0; gone < buffers.size(); gone += 2) {
    buffers[gone] = Buffer::beside_others(100'000);
    fill(gone);
  }
  for (std::size_t number = 0; number < buffers.size(); ++number) {
    const std::span numbers(buffers[number].data(), static_cast<std::size_t>(buffers[number].size()));
    CHECK(
        std::all_of(numbers.begin(), numbers.end(), [&](float found) { return found == static_cast<float>(number); }));
  }
}

TEST_CASE("a buffer that no memory could hold is refused, whatever its bytes would wrap to", "[tensor]") {
  for (const auto count : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max() / 4,
                           std::int64_t{1} << 62U, std::int64_t{-1}}) {
    CHECK_THROWS_AS(Buffer(count), std::bad_alloc);
    CHECK_THROWS_AS(Buffer::beside_others(count), std::bad_alloc);
  }
}

}  // namespace qkv::test
