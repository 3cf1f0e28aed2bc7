// Blocks of every quantised dtype against numbers that an independent program computed (data/quantized/make.py).

#include "qkv/tensor/quantized.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include "qkv/io/formats/safetensors.hpp"
#include "support/catch.hpp"

namespace qkv::test {
namespace {

constexpr DType quantised[] = {DType::q8_0, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                               DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k};

std::string lower(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

TEST_CASE("quantised blocks give the exact numbers of their formats", "[core]") {
  const auto source = open_safetensors({std::string(QKV_TEST_DATA) + "/quantized/blocks.safetensors"});
  for (const auto dtype : quantised) {
    const auto name = lower(name_of(dtype));
    CAPTURE(name);
    const auto* blocks = find_tensor(*source, name + ".bytes");
    const auto* numbers = find_tensor(*source, name + ".numbers");
    REQUIRE(blocks != nullptr);
    REQUIRE(numbers != nullptr);
    REQUIRE(blocks->shape[1] == static_cast<std::int64_t>(size_of(dtype)));
    REQUIRE(numbers->shape[1] == static_cast<std::int64_t>(block_length(dtype)));
    const auto count = static_cast<std::size_t>(numbers->shape[0] * numbers->shape[1]);
    std::vector<float> ours(count);
    widen(dtype, blocks->bytes.data(), count, ours.data());
    CHECK(std::memcmp(ours.data(), numbers->bytes.data(), numbers->bytes.size()) == 0);
    // At an odd address too, and not a number further than asked for.
    std::vector<std::byte> moved(blocks->bytes.size() + 1);
    std::copy(blocks->bytes.begin(), blocks->bytes.end(), moved.begin() + 1);
    std::vector<float> first(block_length(dtype) + 1, -7.0F);
    widen(dtype, moved.data() + 1, block_length(dtype), first.data());
    CHECK(std::equal(first.begin(), first.end() - 1, ours.begin()));
    CHECK(first.back() == -7.0F);
  }
}

TEST_CASE("bytes of quantised numbers are counted in whole blocks", "[core]") {
  for (const auto dtype : quantised) {
    const auto length = static_cast<std::int64_t>(block_length(dtype));
    CHECK(is_weight_dtype(dtype));
    CHECK(byte_count(dtype, 0) == 0);
    CHECK(byte_count(dtype, 3 * length) == 3 * static_cast<std::int64_t>(size_of(dtype)));
    CHECK_FALSE(byte_count(dtype, length - 1).has_value());
    CHECK_FALSE(byte_count(dtype, length + 16).has_value());
    CHECK_FALSE(dtype_from_name(name_of(dtype)).has_value());
  }
  CHECK(byte_count(DType::f32, 5) == 20);
  CHECK_FALSE(byte_count(DType::f64, std::int64_t{1} << 60).has_value());
  CHECK(byte_count(DType::q8_0, std::int64_t{1} << 62).value_or(0) >= 0);
}

}  // namespace qkv::test
