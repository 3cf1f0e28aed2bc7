// Widening against a formula of its own, for every 16-bit pattern.

#include "qkv/tensor/dtype.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "support/catch.hpp"

namespace qkv::test {
namespace {

/// Sign, `exponent_bits` of exponent and the rest fraction, as IEEE 754 reads them.
double value_of(std::uint32_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> fraction_bits & ((1U << exponent_bits) - 1U));
  const auto fraction = static_cast<double>(bits & ((1U << fraction_bits) - 1U));
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0.0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + std::ldexp(1.0, fraction_bits), exponent - bias - fraction_bits);
}

/// How many of all patterns are widened to something else.
int count_wrong(float (*widen_one)(std::uint16_t), int exponent_bits) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto found = widen_one(static_cast<std::uint16_t>(bits));
    const auto expected = value_of(bits, exponent_bits);
    const bool same = std::isnan(expected)
                          ? std::isnan(found)
                          : static_cast<double>(found) == expected && std::signbit(found) == std::signbit(expected);
    wrong += same ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("every f16 pattern is widened exactly", "[core]") {
  CHECK(count_wrong(widen_f16, 5) == 0);
  CHECK(widen_f16(0x3C00) == 1.0F);
  CHECK(widen_f16(0x0001) == std::ldexp(1.0F, -24));
  CHECK(widen_f16(0x7BFF) == 65504.0F);
}

TEST_CASE("every bf16 pattern is widened exactly", "[core]") {
  CHECK(count_wrong(widen_bf16, 8) == 0);
  CHECK(widen_bf16(0x3F80) == 1.0F);
  CHECK(widen_bf16(0x0001) == std::ldexp(1.0F, -133));
}

TEST_CASE("widen reads at any alignment", "[core]") {
  const std::array<std::uint16_t, 3> halves{0x3C00, 0xC000, 0x0001};
  const std::array<float, 3> floats{1.5F, -2.25F, 1e-40F};
  for (const std::size_t offset : {0U, 1U, 3U}) {
    std::vector<std::byte> bytes(64);
    std::array<float, 3> to{};
    std::memcpy(bytes.data() + offset, halves.data(), sizeof halves);
    widen(DType::f16, bytes.data() + offset, 3, to.data());
    CHECK(to == std::array{1.0F, -2.0F, std::ldexp(1.0F, -24)});
    widen(DType::bf16, bytes.data() + offset, 3, to.data());
    CHECK(to[1] == -2.0F);
    std::memcpy(bytes.data() + offset, floats.data(), sizeof floats);
    widen(DType::f32, bytes.data() + offset, 3, to.data());
    CHECK(to == floats);
  }
}

TEST_CASE("narrowing gives back every pattern that was widened", "[core]") {
  for (const auto dtype : {DType::f16, DType::bf16}) {
    int wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 0x10000U; ++pattern) {
      const auto bits = static_cast<std::uint16_t>(pattern);
      const auto number = dtype == DType::f16 ? widen_f16(bits) : widen_bf16(bits);
      std::uint16_t back = 0;
      narrow(dtype, &number, 1, reinterpret_cast<std::byte*>(&back));
      const auto again = dtype == DType::f16 ? widen_f16(back) : widen_bf16(back);
      wrong += (std::isnan(number) ? std::isnan(again) : back == bits) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("narrowing goes to the nearest, halfway to the even one", "[core]") {
  // Between each value and the next one up: exactly halfway, and the f32 just below and just above that.
  for (const auto dtype : {DType::f16, DType::bf16}) {
    const auto widened = [&](std::uint32_t bits) {
      return dtype == DType::f16 ? widen_f16(static_cast<std::uint16_t>(bits))
                                 : widen_bf16(static_cast<std::uint16_t>(bits));
    };
    const std::uint32_t infinite = dtype == DType::f16 ? 0x7C00U : 0x7F80U;
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < infinite; ++bits) {
      const auto low = static_cast<double>(widened(bits));
      const auto high = bits + 1 < infinite ? static_cast<double>(widened(bits + 1))
                                            : 2.0 * low - static_cast<double>(widened(bits - 1));
      const auto middle = static_cast<float>((low + high) / 2.0);
      const std::array<float, 3> numbers{std::nextafterf(middle, 0.0F), middle, std::nextafterf(middle, HUGE_VALF)};
      const std::array<std::uint32_t, 3> expected{bits, bits + (bits & 1U), bits + 1};
      std::array<std::uint16_t, 3> found{};
      narrow(dtype, numbers.data(), 3, reinterpret_cast<std::byte*>(found.data()));
      for (std::size_t i = 0; i < 3; ++i) {
        const float negative = -numbers.at(i);
        std::uint16_t mirrored = 0;
        narrow(dtype, &negative, 1, reinterpret_cast<std::byte*>(&mirrored));
        wrong += found.at(i) == expected.at(i) && mirrored == (expected.at(i) | 0x8000U) ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
    const auto limit = smallest_infinite(dtype);
    std::array<std::uint16_t, 2> found{};
    const std::array<float, 2> numbers{std::nextafterf(limit, 0.0F), limit};
    narrow(dtype, numbers.data(), 2, reinterpret_cast<std::byte*>(found.data()));
    CHECK(found == std::array{static_cast<std::uint16_t>(infinite - 1), static_cast<std::uint16_t>(infinite)});
  }
  CHECK(std::isinf(smallest_infinite(DType::f32)));
}

TEST_CASE("dtypes know their name and size, and which of them weights may have", "[core]") {
  struct Fact {
    DType dtype;
    const char* name;
    std::size_t size;
    bool weight;
  };
  for (const auto& fact :
       {Fact{DType::f32, "f32", 4, true}, Fact{DType::f16, "f16", 2, true}, Fact{DType::bf16, "bf16", 2, true},
        Fact{DType::f64, "f64", 8, false}, Fact{DType::i64, "i64", 8, false}, Fact{DType::i32, "i32", 4, false},
        Fact{DType::i16, "i16", 2, false}, Fact{DType::i8, "i8", 1, false}, Fact{DType::u8, "u8", 1, false},
        Fact{DType::boolean, "bool", 1, false}}) {
    CAPTURE(fact.name);
    CHECK(name_of(fact.dtype) == fact.name);
    CHECK(size_of(fact.dtype) == fact.size);
    CHECK(is_weight_dtype(fact.dtype) == fact.weight);
    REQUIRE(dtype_from_name(fact.name).has_value());
    CHECK(static_cast<int>(*dtype_from_name(fact.name)) == static_cast<int>(fact.dtype));
  }
  CHECK_FALSE(dtype_from_name("f8_e4m3").has_value());
  CHECK_FALSE(dtype_from_name("").has_value());
}

TEST_CASE("rounding to bf16 finds the nearest, and the even one of two", "[tensor]") {
  const auto round_one = [](float number) {
    std::uint16_t bits = 0;
    round_to_bf16(&number, 1, &bits);
    return bits;
  };
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto exact = widen_bf16(static_cast<std::uint16_t>(bits));
    if (std::isnan(exact)) {
      CHECK(std::isnan(widen_bf16(round_one(exact))));
      continue;
    }
    const auto next = widen_bf16(static_cast<std::uint16_t>(bits + 1));
    const auto even = static_cast<std::uint16_t>(bits + (bits & 1U));
    REQUIRE(round_one(exact) == bits);
    if (std::isinf(exact) || std::isinf(next)) continue;
    const auto middle = static_cast<float>((static_cast<double>(exact) + static_cast<double>(next)) / 2.0);
    REQUIRE(round_one(middle) == even);
    REQUIRE(round_one(std::nextafter(middle, exact)) == bits);
    REQUIRE(round_one(std::nextafter(middle, next)) == static_cast<std::uint16_t>(bits + 1));
  }
  CHECK(round_one(3.4e38F) == 0x7F80U);  // beyond the largest finite one
  CHECK(std::isnan(widen_bf16(round_one(std::bit_cast<float>(0x7FFFFFFFU)))));
  CHECK(std::isnan(widen_bf16(round_one(std::bit_cast<float>(0x7F800001U)))));
}

}  // namespace qkv::test
