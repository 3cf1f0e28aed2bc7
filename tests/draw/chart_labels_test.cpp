#include "qkv/draw/chart_labels.hpp"

#include <cmath>

#include "support/catch.hpp"

namespace qkv::draw {
namespace {

using test::Approx;
using Heights = std::vector<double>;

const Box plot{100, 50, 500, 300};

TEST_CASE("positions that are far apart stay, others give way to both sides", "[draw]") {
  CHECK(spread(Heights{30, 10, 60}, 15, 0, 100) == Heights{30, 10, 60});
  CHECK(spread(Heights{50, 50}, 10, 0, 100) == Heights{45, 55});
  CHECK(spread(Heights{52, 50, 10}, 10, 0, 100) == Heights{56, 46, 10});
  CHECK(spread(Heights{0, 1, 2}, 10, 0, 100) == Heights{0, 10, 20});
  CHECK(spread(Heights{100, 99}, 10, 0, 100) == Heights{100, 90});
  CHECK(spread(Heights{5, 5, 5}, 10, 0, 10) == Heights{0, 10, 20});  // no room: beyond the end, still apart
  CHECK(spread(Heights{}, 10, 0, 10).empty());
}

TEST_CASE("a line is cut at the sides of a box", "[draw]") {
  const auto check = [](Point a, Point b, Point from, Point to) {
    const auto part = clipped(a, b, plot);
    REQUIRE(part);
    CHECK(part->first.x == Approx(from.x));
    CHECK(part->first.y == Approx(from.y));
    CHECK(part->second.x == Approx(to.x));
    CHECK(part->second.y == Approx(to.y));
  };
  check({150, 60}, {200, 70}, {150, 60}, {200, 70});
  check({0, 100}, {1000, 100}, {100, 100}, {600, 100});
  check({300, 400}, {300, 0}, {300, 350}, {300, 50});
  check({50, 100}, {150, 200}, {100, 150}, {150, 200});
  check({200, 200}, {200, 200}, {200, 200}, {200, 200});
  CHECK_FALSE(clipped({0, 0}, {1000, 40}, plot));
  CHECK_FALSE(clipped({50, 60}, {110, 20}, plot));  // passes the corner outside
  CHECK_FALSE(clipped({50, 60}, {50, 60}, plot));
}

TEST_CASE("a name stands at the end of its line where nothing is in the way", "[draw]") {
  const std::vector<Point> reaching{{110, 300}, {590, 300}};
  const std::vector<Point> early{{110, 100}, {300, 100}};
  const auto alone = place_labels(std::vector<NamedLine>{{early, 80}, {reaching, 80}}, plot);
  CHECK(alone[0].inside);
  CHECK(alone[0].at.x > 300);
  CHECK(alone[0].at.x < 320);
  CHECK(alone[0].at.y == 100);
  CHECK_FALSE(alone[1].inside);
  CHECK(alone[1].at_end);
  CHECK(alone[1].at.x > 600);
  CHECK(alone[1].at.y == 300);

  const auto refused = [&](const std::vector<Point>& in_the_way) {
    return !place_labels(std::vector<NamedLine>{{early, 80}, {in_the_way, 80}}, plot)[0].inside;
  };
  CHECK(refused({{110, 95}, {590, 95}}));   // a line along it
  CHECK(refused({{350, 60}, {350, 340}}));  // across it
  CHECK(refused({{110, 96}, {200, 96}}));   // the leader of one that ends earlier
  CHECK(refused({{340, 105}}));             // a point in it
  CHECK_FALSE(refused({{110, 140}, {590, 140}}));
  const auto wide = place_labels(std::vector<NamedLine>{{early, 400}}, plot);
  CHECK_FALSE(wide[0].inside);
  CHECK_FALSE(wide[0].at_end);  // it needs a leader
}

}  // namespace
}  // namespace qkv::draw
