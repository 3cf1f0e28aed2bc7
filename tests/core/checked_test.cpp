#include "qkv/core/checked.hpp"

#include <sched.h>

#include <limits>

#include "qkv/core/processors.hpp"
#include "support/catch.hpp"

namespace qkv::test {

TEST_CASE("products that fit are numbers, the others are none", "[core]") {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  CHECK(checked_mul(6, -7) == -42);
  CHECK(checked_mul(most, 1) == most);
  CHECK(checked_mul(most, 0) == 0);
  CHECK_FALSE(checked_mul(most, 2).has_value());
  CHECK_FALSE(checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31).has_value());
  CHECK_FALSE(checked_mul(least, -1).has_value());
}

TEST_CASE("the usable processors are some, and no more than the process may run on", "[core]") {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  CHECK(usable_processors() >= 1);
  CHECK(usable_processors() <= CPU_COUNT(&allowed));
}

TEST_CASE("with one processor allowed there is one", "[core]") {
  cpu_set_t before;
  CPU_ZERO(&before);
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const auto found = usable_processors();
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(found == 1);
}

}  // namespace qkv::test
