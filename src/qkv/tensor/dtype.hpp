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

}  // namespace qkv
