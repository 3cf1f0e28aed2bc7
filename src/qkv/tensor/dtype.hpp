#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace qkv {

/// How numbers are kept in a file.
enum class DType { f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean };

/// Bytes of one number.
[[nodiscard]] std::size_t size_of(DType dtype);
/// "f32", "bf16", ...
[[nodiscard]] std::string_view name_of(DType dtype);
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);
/// Whether weights may come in it: f32, f16 and bf16 widen exactly to f32.
[[nodiscard]] bool is_weight_dtype(DType dtype);

/// Exact: every f16 and bf16 value, subnormals, infinities and NaN included, is an f32 value.
[[nodiscard]] float widen_f16(std::uint16_t bits);
[[nodiscard]] float widen_bf16(std::uint16_t bits);
/// `count` numbers of a weight dtype, at any alignment, to f32.
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
