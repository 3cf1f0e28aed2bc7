#include "qkv/inspect/color_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/catch.hpp"
#include "support/oklab.hpp"

namespace qkv {
namespace {

using test::Approx;
using test::distance;
using test::linear;
using test::oklab;
using Kind = ColorScale::Kind;
using Mapping = ColorScale::Mapping;

/// `steps` equal steps along a part of the bar: lightness falls by the same amount in each, and so do the distances.
void require_even(const ColorScale& scale, double from, double to) {
  constexpr int steps = 20;
  const auto color = [&](int i) { return scale.at(from + (to - from) * i / steps); };
  const auto fall = (oklab(color(0))[0] - oklab(color(steps))[0]) / steps;
  REQUIRE(fall > 0.02);
  double shortest = 1;
  double longest = 0;
  for (int i = 0; i < steps; ++i) {
    CAPTURE(i);
    CHECK(oklab(color(i))[0] - oklab(color(i + 1))[0] == Approx(fall).margin(0.004));
    shortest = std::min(shortest, distance(color(i), color(i + 1)));
    longest = std::max(longest, distance(color(i), color(i + 1)));
  }
  CHECK(longest < 1.3 * shortest);
}

TEST_CASE("a sequential scale darkens evenly", "[inspect]") {
  require_even(ColorScale(Kind::sequential, Mapping::linear, 1), 0, 1);
}

TEST_CASE("a diverging scale darkens evenly and equally from its middle to both ends", "[inspect]") {
  const ColorScale scale(Kind::diverging, Mapping::linear, 2);
  require_even(scale, 0.5, 0);
  require_even(scale, 0.5, 1);
  for (const auto value : {0.2F, 0.7F, 1.3F, 2.0F}) {
    CAPTURE(value);
    CHECK(oklab(scale(value))[0] == Approx(oklab(scale(-value))[0]).margin(0.004));
    CHECK(distance(scale(value), scale(-value)) > 0.05);
  }
  // No seam at zero: numbers around it look the same.
  CHECK(distance(scale(1e-6F), scale(-1e-6F)) < 0.01);
}

TEST_CASE("no number looks like a masked cell", "[inspect]") {
  for (const auto kind : {Kind::sequential, Kind::diverging})
    for (const auto mapping : {Mapping::linear, Mapping::logarithmic}) {
      const ColorScale scale(kind, mapping, 1);
      CHECK(scale(std::numeric_limits<float>::quiet_NaN()) == paper);
      CHECK(distance(scale(0), paper) > 0.04);
      for (int i = 0; i <= 100; ++i) CHECK(distance(scale.at(i / 100.0), paper) > 0.04);
    }
}

TEST_CASE("ink can be read on every colour", "[inspect]") {
  const auto luminance = [](Color c) {
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
  };
  for (const auto kind : {Kind::sequential, Kind::diverging})
    for (int i = 0; i <= 200; ++i) {
      const auto background = ColorScale(kind, Mapping::linear, 1).at(i / 200.0);
      const auto a = luminance(background) + 0.05;
      const auto b = luminance(readable_on(background)) + 0.05;
      CHECK(std::max(a, b) / std::min(a, b) >= 4.5);
    }
}

TEST_CASE("linear positions are proportional and end at the limit", "[inspect]") {
  const ColorScale shares(Kind::sequential, Mapping::linear, 4);
  CHECK(shares.position(0) == 0);
  CHECK(shares.position(1) == Approx(0.25));
  CHECK(shares.position(4) == 1);
  CHECK(shares.position(400) == 1);
  CHECK(shares.position(-1) == 0);
  CHECK(shares(std::numeric_limits<float>::infinity()) == shares(4));
  CHECK(shares.floor() == 0);
  const ColorScale sides(Kind::diverging, Mapping::linear, 4);
  CHECK(sides.position(0) == 0.5);
  CHECK(sides.position(-4) == 0);
  CHECK(sides.position(2) == Approx(0.75));
  CHECK(sides(-std::numeric_limits<float>::infinity()) == sides(-4));
}

TEST_CASE("logarithmic positions give each decade the same room, above a floor", "[inspect]") {
  const ColorScale shares(Kind::sequential, Mapping::logarithmic, 1);
  REQUIRE(shares.floor() == Approx(1e-4));
  CHECK(shares.position(1e-3) == Approx(0.25));
  CHECK(shares.position(1e-1) == Approx(0.75));
  CHECK(shares.position(1) == 1);
  CHECK(shares(9e-5F) == shares(0));
  CHECK_FALSE(shares(3e-4F) == shares(0));
  const ColorScale sides(Kind::diverging, Mapping::logarithmic, 300);
  CHECK(sides.floor() == Approx(0.01));
  CHECK(sides.position(-0.005) == 0.5);
  CHECK(sides.position(0.1) - 0.5 == Approx(0.5 - sides.position(-0.1)));
  CHECK(sides.position(10) - sides.position(1) == Approx(sides.position(100) - sides.position(10)));
}

TEST_CASE("the marks of a colour bar stand where their numbers do", "[inspect]") {
  for (const auto kind : {Kind::sequential, Kind::diverging})
    for (const auto mapping : {Mapping::linear, Mapping::logarithmic})
      for (const auto limit : {1.0, 3.74, 0.0021, 240.0, 9.99e20}) {
        CAPTURE(static_cast<int>(kind), static_cast<int>(mapping), limit);
        const ColorScale scale(kind, mapping, limit);
        const auto ticks = scale.ticks();
        REQUIRE(ticks.size() >= 3);
        CHECK(ticks.front().position == 0);
        CHECK(ticks.back().position == 1);
        CHECK(std::stod(ticks.back().label) == Approx(limit));
        bool floor_named = false;
        for (std::size_t i = 0; i < ticks.size(); ++i) {
          const auto& tick = ticks[i];
          CAPTURE(tick.label);
          if (i > 0) CHECK(tick.position > ticks[i - 1].position);
          if (tick.label.find(" or less") != std::string::npos) {
            floor_named = true;
            CHECK(tick.position == scale.position(0));
            CHECK(std::stod(tick.label.substr(tick.label.find_first_of("0123456789"))) == Approx(scale.floor()));
          } else {
            CHECK(tick.position == Approx(scale.position(std::stod(tick.label))).margin(0.01));
          }
        }
        CHECK(floor_named == (mapping == Mapping::logarithmic));
      }
}

TEST_CASE("a scale without any number is still a scale", "[inspect]") {
  for (const auto limit : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    CHECK(ColorScale(Kind::diverging, Mapping::linear, limit).limit() == 1);
  const ColorScale tiny(Kind::diverging, Mapping::logarithmic, 1e-40);
  CHECK(tiny.position(1e-40) == 1);
  CHECK(tiny.floor() < 1e-43);
}

TEST_CASE("short numbers have two significant digits", "[inspect]") {
  CHECK(short_number(0) == "0");
  CHECK(short_number(-0.0) == "0");
  CHECK(short_number(1) == "1.0");
  CHECK(short_number(0.53124) == "0.53");
  CHECK(short_number(0.0999) == "0.10");
  CHECK(short_number(-0.0412) == "-0.041");
  CHECK(short_number(0.00034) == "3.4e-04");
  CHECK(short_number(12.6) == "13");
  CHECK(short_number(1284) == "1284");
  CHECK(short_number(123456) == "1.2e+05");
  CHECK(short_number(std::numeric_limits<double>::infinity()) == "inf");
}

}  // namespace
}  // namespace qkv
