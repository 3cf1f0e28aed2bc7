#include "qkv/timing/samples.hpp"

#include <vector>

#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("median, minimum, ninth decile and deviation of known samples", "[timing]") {
  const std::vector<double> samples{5, 1, 4, 2, 3, 10, 7, 8, 9, 6};
  const auto summary = summarize(samples);
  CHECK(summary.median == 5.5);
  CHECK(summary.min == 1);
  CHECK(summary.p90 == 9);  // nine of ten are at most 9
  CHECK(summary.mad == 2.5);
  CHECK(summarize(std::vector<double>{3.0}).median == 3.0);
  CHECK(median_of(std::vector<double>{1, 100, 2}) == 2);
}

TEST_CASE("one wild sample moves neither the median nor the deviation", "[timing]") {
  const auto summary = summarize(std::vector<double>{1.00, 1.01, 0.99, 50.0, 1.00, 1.01, 0.99, 1.00});
  CHECK(summary.median == Approx(1.0));
  CHECK(summary.mad < 0.02);
  CHECK(summary.doubt.empty());
}

TEST_CASE("samples that cannot be trusted are doubted, with the reason", "[timing]") {
  CHECK(summarize(std::vector<double>{1.0, 1.0, 1.0}).doubt.find("too few") != std::string::npos);
  CHECK(summarize(std::vector<double>{1.0, 1.1, 0.9, 1.2, 0.8, 1.0}).doubt.find("spread") != std::string::npos);
  const auto drifting = summarize(std::vector<double>{1.00, 1.00, 1.01, 1.00, 1.06, 1.06, 1.06, 1.07});
  CHECK(drifting.doubt.find("spread") == std::string::npos);
  CHECK(drifting.doubt.find("drift") != std::string::npos);
  CHECK(summarize(std::vector<double>{1.00, 1.02, 1.01, 0.99, 1.00}).doubt.empty());
}

}  // namespace qkv::test
