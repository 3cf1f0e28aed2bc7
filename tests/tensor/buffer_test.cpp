#include <cstdint>
#include <limits>
#include <new>

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

TEST_CASE("a buffer that no memory could hold is refused, whatever its bytes would wrap to", "[tensor]") {
  for (const auto count : {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max() / 4,
                           std::int64_t{1} << 62U, std::int64_t{-1}})
    CHECK_THROWS_AS(Buffer(count), std::bad_alloc);
}

}  // namespace qkv::test
