#include "qkv/tensor/dtype.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "qkv/core/checked.hpp"
#include "qkv/tensor/quantized.hpp"

namespace qkv {
namespace {

struct DTypeFacts {
  DType dtype;
  std::string_view name;
  std::size_t size;        // bytes of a block
  std::size_t length = 1;  // numbers in it
};

constexpr std::array<DTypeFacts, 20> facts{{{DType::f32, "f32", 4},
                                            {DType::f16, "f16", 2},
                                            {DType::bf16, "bf16", 2},
                                            {DType::f64, "f64", 8},
                                            {DType::i64, "i64", 8},
                                            {DType::i32, "i32", 4},
                                            {DType::i16, "i16", 2},
                                            {DType::i8, "i8", 1},
                                            {DType::u8, "u8", 1},
                                            {DType::boolean, "bool", 1},
                                            {DType::q8_0, "q8_0", 34, 32},
                                            {DType::q4_0, "q4_0", 18, 32},
                                            {DType::q4_1, "q4_1", 20, 32},
                                            {DType::q5_0, "q5_0", 22, 32},
                                            {DType::q5_1, "q5_1", 24, 32},
                                            {DType::q2_k, "q2_K", 84, 256},
                                            {DType::q3_k, "q3_K", 110, 256},
                                            {DType::q4_k, "q4_K", 144, 256},
                                            {DType::q5_k, "q5_K", 176, 256},
                                            {DType::q6_k, "q6_K", 210, 256}}};

const DTypeFacts& facts_of(DType dtype) { return facts[static_cast<std::size_t>(dtype)]; }

/// Widens 16-bit numbers one by one, reading bytes so that no alignment is needed.
template <float (*Widen)(std::uint16_t)>
void widen_all(const std::byte* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
    to[i] = Widen(bits);
  }
}

std::uint16_t narrow_f16(float number) {
  constexpr std::uint32_t smallest_normal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t too_large = 0x477FF000U;        // 65520, halfway between the largest f16 and the next
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const auto size = bits & 0x7FFFFFFFU;
  std::uint32_t narrowed = 0;
  if (size > 0x7F800000U)
    narrowed = 0x7E00U | (size >> 13U & 0x3FFU);
  else if (size >= too_large)
    narrowed = 0x7C00U;
  else if (size >= smallest_normal)
    narrowed = (size + 0xFFFU + (size >> 13U & 1U) - 0x38000000U) >> 13U;  // exponents differ by 127 - 15
  else  // between 1/2 and 1 an f32 steps by 2^-24, as a subnormal f16 does: the sum is rounded to what is wanted
    narrowed = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | narrowed);
}

}  // namespace

std::size_t block_length(DType dtype) { return facts_of(dtype).length; }

std::size_t size_of(DType dtype) { return facts_of(dtype).size; }

std::optional<std::int64_t> byte_count(DType dtype, std::int64_t count) {
  const auto length = static_cast<std::int64_t>(block_length(dtype));
  if (count % length != 0) return std::nullopt;
  return checked_mul(count / length, static_cast<std::int64_t>(size_of(dtype)));
}

std::string_view name_of(DType dtype) { return facts_of(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const auto& fact : facts)
    if (fact.name == name && fact.length == 1) return fact.dtype;
  return std::nullopt;
}

bool is_weight_dtype(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || block_length(dtype) > 1;
}

float widen_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }

float widen_f16(std::uint16_t bits) {
  // The exponent and fraction, moved to their place in an f32, are off by a factor of 2^112 (the biases differ by
  // 127 - 15); the product mends it exactly, for subnormals too. Infinity and NaN keep all exponent bits set.
  const auto sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const auto rest = static_cast<std::uint32_t>(bits & 0x7FFFU) << 13U;
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) * 0x1p112F);
  const bool finite = (bits & 0x7C00U) != 0x7C00U;
  return std::bit_cast<float>(sign | (finite ? scaled : rest | 0x7F800000U));
}

void widen(DType dtype, const std::byte* from, std::size_t count, float* to) {
  if (dtype == DType::f32)
    std::memcpy(to, from, count * sizeof(float));
  else if (dtype == DType::f16)
    widen_all<widen_f16>(from, count, to);
  else if (dtype == DType::bf16)
    widen_all<widen_bf16>(from, count, to);
  else
    dequantize(dtype, from, count / block_length(dtype), to);
}

void round_to_bf16(const float* from, std::size_t count, std::uint16_t* to) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(from[i]);
    const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    const auto rounded = bits + 0x7FFFU + (bits >> 16U & 1U);
    to[i] = static_cast<std::uint16_t>((is_nan ? bits | 0x400000U : rounded) >> 16U);
  }
}

void round_to_f16(const float* from, std::size_t count, std::uint16_t* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = narrow_f16(from[i]);
}

void narrow(DType dtype, const float* from, std::size_t count, std::byte* to) {
  if (dtype == DType::f32)
    std::memcpy(to, from, count * sizeof(float));
  else if (dtype == DType::f16)
    round_to_f16(from, count, reinterpret_cast<std::uint16_t*>(to));
  else
    round_to_bf16(from, count, reinterpret_cast<std::uint16_t*>(to));
}

float smallest_infinite(DType dtype) {
  if (dtype == DType::f16) return 65520.0F;
  return dtype == DType::bf16 ? std::bit_cast<float>(0x7F7F8000U) : std::numeric_limits<float>::infinity();
}

}  // namespace qkv
