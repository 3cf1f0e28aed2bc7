#include "qkv/inspect/writers/picture_raster.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"

namespace qkv::picture {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("a raster keeps the number of largest magnitude, with its sign", "[inspect]") {
  Raster raster({4, 2, 1}, {5, 2, 1});
  raster.add(0, std::array{1.0F, -3.0F, nan, nan, nan});
  raster.add(1, std::array{2.0F, 0.5F, nan, -0.0F, nan});
  raster.add(2, std::array{0.0F, 0.0F, 4.0F, nan, 7.0F});
  raster.add(3, std::array{0.0F, 0.0F, nan, -5.0F, -6.0F});
  CHECK(raster.at(0, 0) == -3);
  CHECK(raster.at(0, 1) == 0);
  CHECK(std::isnan(raster.at(0, 2)));
  CHECK(raster.at(1, 0) == 0);
  CHECK(raster.at(1, 1) == -5);
  CHECK(raster.at(1, 2) == 7);
}

TEST_CASE("a raster takes the room of its bins", "[inspect]") {
  Raster raster({2000, 20, 1}, {2000, 20, 1});
  CHECK(raster.bins().size() == 100 * 100);
  const std::vector<float> row(2000, 1.0F);
  for (int i = 0; i < 2000; ++i) raster.add(i, row);
  CHECK(raster.bins().size() == 100 * 100);
}

TEST_CASE("the middle of an entry lies in its bin", "[inspect]") {
  const Cells plain{10, 1, 20};
  CHECK(plain.extent() == 200);
  CHECK(plain.center(0) == 10);
  CHECK(plain.center(9) == 190);
  const Cells merged{10, 4, 2};
  CHECK(merged.bins() == 3);
  CHECK(merged.extent() == 6);
  CHECK(merged.center(0) == 0.25);
  CHECK(merged.center(9) == 4.75);
}

}  // namespace
}  // namespace qkv::picture
