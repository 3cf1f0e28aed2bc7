#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qkv {

/// How numbers are kept in a file. From q8_0 on they are quantised: they stand in blocks that share scales.
enum class DType {
  f32,
  f16,
  bf16,
  f64,
  i64,
  i32,
  i16,
  i8,
  u8,
  boolean,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k
};

/// Numbers in one block; 1 where each stands by itself.
[[nodiscard]] std::size_t block_length(DType dtype);
/// Bytes of one number, or of one block.
[[nodiscard]] std::size_t size_of(DType dtype);
/// Bytes of `count` numbers; nothing when they do not fit 64 bits, or do not fill whole blocks.
[[nodiscard]] std::optional<std::int64_t> byte_count(DType dtype, std::int64_t count);
/// "f32", "bf16", "q4_K", ...
[[nodiscard]] std::string_view name_of(DType dtype);
/// Only dtypes whose numbers stand by themselves: no format spells the others.
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);
/// Whether weights may come in it: f32, f16, bf16 and what is quantised have exact values in f32.
[[nodiscard]] bool is_weight_dtype(DType dtype);

/// Exact: every f16 and bf16 value, subnormals, infinities and NaN included, is an f32 value.
[[nodiscard]] float widen_f16(std::uint16_t bits);
[[nodiscard]] float widen_bf16(std::uint16_t bits);
/// `count` numbers of a weight dtype (whole blocks), at any alignment, to f32.
void widen(DType dtype, const std::byte* from, std::size_t count, float* to);

/// To the nearest bf16 value, halfway to the even one; what is too large becomes infinite, NaN stays NaN.
void round_to_bf16(const float* from, std::size_t count, std::uint16_t* to);
/// The same for f16, subnormals included.
void round_to_f16(const float* from, std::size_t count, std::uint16_t* to);
/// `count` numbers as a weight dtype keeps them; `to` has room for them and is aligned for them.
void narrow(DType dtype, const float* from, std::size_t count, std::byte* to);
/// The smallest f32 that a weight dtype rounds to infinity.
[[nodiscard]] float smallest_infinite(DType dtype);

}  // namespace qkv
