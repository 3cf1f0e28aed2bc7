#include "qkv/draw/chart_axis.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace qkv::draw {
namespace {

using test::Approx;
using Labels = std::vector<std::string>;

const ChartAxis counts{"", Quantity::count, true};
const ChartAxis durations{"", Quantity::seconds, true};

Labels labels(const AxisScale& scale, bool horizontal) {
  Labels found;
  for (const auto& tick : scale.ticks(horizontal)) found.push_back(tick.label);
  return found;
}

TEST_CASE("counts are marked at powers of two, durations at 1, 2 and 5 in their own unit", "[draw]") {
  CHECK(labels({counts, 1, 1024, 0, 560}, true) ==
        Labels{"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"});
  CHECK(labels({durations, 0.02, 1.1, 350, 0}, false) == Labels{"20 ms", "50 ms", "100 ms", "200 ms", "500 ms", "1 s"});
  CHECK(labels({durations, 3e-7, 3e-6, 350, 0}, false) == Labels{"500 ns", "1 \u00B5s", "2 \u00B5s"});
}

TEST_CASE("a short axis has more marks, a long one fewer", "[draw]") {
  CHECK(labels({durations, 0.02, 0.024, 350, 0}, false) == Labels{"20 ms", "30 ms", "40 ms"});
  CHECK(labels({durations, 1e-6, 1e3, 350, 0}, false) ==
        Labels{"1 \u00B5s", "10 \u00B5s", "100 \u00B5s", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s", "1000 s"});
  CHECK(labels({counts, 1, 131072, 0, 560}, true) ==
        Labels{"1", "4", "16", "64", "256", "1024", "4096", "16384", "65536"});
  for (const auto& axis : {counts, durations})
    for (const bool horizontal : {true, false})
      for (const auto high : {1.0, 1.5, 10.0, 1e5, 1e30, 1e99}) {
        const AxisScale scale(axis, 1 / high, high, horizontal ? 0 : 350, horizontal ? 560 : 0);
        CAPTURE(high, horizontal);
        const auto ticks = scale.ticks(horizontal);
        CHECK_FALSE(ticks.empty());
        for (std::size_t i = 1; i < ticks.size(); ++i) CHECK(std::abs(ticks[i].at - ticks[i - 1].at) >= 17);
      }
}

TEST_CASE("a logarithmic axis gives equal ratios equal room, within its ends", "[draw]") {
  const AxisScale scale(counts, 1, 10000, 100, 500);
  CHECK(scale.at(10) - scale.at(1) == Approx(scale.at(10000) - scale.at(1000)));
  CHECK(scale.at(100) == Approx(300));
  CHECK(scale.at(1) > 105);
  CHECK(scale.at(10000) < 495);
  for (const auto& tick : scale.ticks(true)) CHECK(tick.at == Approx(scale.at(tick.value)));
}

TEST_CASE("a linear axis begins at 0", "[draw]") {
  const AxisScale scale({"", Quantity::count, false}, 100, 1000, 0, 560);
  CHECK(scale.at(0) == 0);
  CHECK(scale.at(1000) == Approx(2 * scale.at(500)));
  CHECK(labels(scale, true) == Labels{"0", "128", "256", "384", "512", "640", "768", "896", "1024"});
  CHECK(labels({{"", Quantity::seconds, false}, 0.1, 1.1, 350, 0}, false) ==
        Labels{"0", "200 ms", "400 ms", "600 ms", "800 ms", "1 s"});
}

TEST_CASE("numbers are written with four digits and their unit", "[draw]") {
  CHECK(quantity_text(Quantity::seconds, 0.0231234) == "23.12 ms");
  CHECK(quantity_text(Quantity::seconds, 0.001) == "1 ms");
  CHECK(quantity_text(Quantity::seconds, 72) == "72 s");
  CHECK(quantity_text(Quantity::seconds, 2.5e-12) == "0.0025 ns");
  CHECK(quantity_text(Quantity::seconds, 0) == "0");
  CHECK(quantity_text(Quantity::count, 131072) == "131072");
  CHECK(quantity_text(Quantity::count, 2.5) == "2.5");
}

}  // namespace
}  // namespace qkv::draw
