#include "qkv/tensor/matrix.hpp"

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "qkv/tensor/shape.hpp"
#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("windows of a matrix point where they should", "[core]") {
  std::vector<float> numbers(5 * 7);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const MatrixView whole(numbers.data(), 5, 7);
  const ConstMatrixView window = whole.rows_window(1, 3).columns(2, 4);
  CHECK(window.rows == 3);
  CHECK(window.cols == 4);
  CHECK(window.stride == 7);
  CHECK(window.at(0, 0) == 9.0F);
  CHECK(window.at(2, 3) == 26.0F);
  CHECK(window.row(1).size() == 4);
  CHECK(window.row(1).front() == 16.0F);
  whole.rows_window(1, 3).columns(2, 4).at(2, 3) = -1.0F;
  CHECK(numbers[26] == -1.0F);
}

TEST_CASE("a buffer is aligned, and an empty one is empty", "[core]") {
  const Buffer buffer(17);
  CHECK(buffer.size() == 17);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  CHECK(buffer.view(2, 8).stride == 8);
  CHECK(Buffer().size() == 0);
}

TEST_CASE("the number of elements is counted without wrapping round", "[core]") {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  CHECK(element_count({}) == 1);
  CHECK(element_count({3, 4, 5}) == 60);
  CHECK(element_count({largest}) == largest);
  CHECK(element_count({0, 7}) == 0);
  CHECK_FALSE(element_count({largest, 2}).has_value());
  CHECK_FALSE(element_count({std::int64_t{1} << 32, std::int64_t{1} << 32}).has_value());
  CHECK_FALSE(element_count({3, -1}).has_value());
  CHECK_FALSE(element_count({-3, -3}).has_value());
  CHECK_FALSE(element_count({largest, largest, -1}).has_value());
  CHECK(to_string(Shape{768, 3072}) == "[768, 3072]");
  CHECK(to_string(Shape{}) == "[]");
}

}  // namespace qkv::test
