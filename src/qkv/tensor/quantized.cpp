#include "qkv/tensor/quantized.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

/// The block formats of ggml, as its reference publishes them: little-endian, without padding. Blocks of 32 hold one
/// f16 scale d (and in the _1 forms one f16 offset m). Blocks of 256, the K forms, hold parts with scales of their own,
/// which are small integers to be multiplied by the block's f16 scale. Nibbles and bit pairs are not in the order of
/// the numbers: a byte holds those of numbers that stand 32 or 16 apart.
///
/// This file is compiled without fused multiply-adds, which would round once where the formats round twice.
namespace qkv {
namespace {

using Bytes = const std::uint8_t*;

float half(Bytes at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return widen_f16(bits);
}

std::uint32_t word(Bytes at) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

int low(std::uint8_t byte) { return byte & 15; }
int high(std::uint8_t byte) { return byte >> 4; }
int signed_byte(std::uint8_t byte) { return static_cast<std::int8_t>(byte); }

/// d [2], 32 signed bytes.
void q8_0(Bytes block, float* to) {
  const auto d = half(block);
  for (int i = 0; i < 32; ++i) to[i] = static_cast<float>(signed_byte(block[2 + i])) * d;
}

/// d [2], 16 bytes of nibbles less 8: the low ones first, then the high ones.
void q4_0(Bytes block, float* to) {
  const auto d = half(block);
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>(low(block[2 + i]) - 8) * d;
    to[i + 16] = static_cast<float>(high(block[2 + i]) - 8) * d;
  }
}

/// d [2], m [2], 16 bytes of nibbles.
void q4_1(Bytes block, float* to) {
  const auto d = half(block);
  const auto m = half(block + 2);
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>(low(block[4 + i])) * d + m;
    to[i + 16] = static_cast<float>(high(block[4 + i])) * d + m;
  }
}

/// The fifth bit of number i of 32.
int fifth(std::uint32_t bits, int i) { return static_cast<int>((bits >> static_cast<unsigned>(i) & 1U) << 4U); }

/// d [2], fifth bits [4], 16 bytes of nibbles; less 16.
void q5_0(Bytes block, float* to) {
  const auto d = half(block);
  const auto bits = word(block + 2);
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>((low(block[6 + i]) | fifth(bits, i)) - 16) * d;
    to[i + 16] = static_cast<float>((high(block[6 + i]) | fifth(bits, i + 16)) - 16) * d;
  }
}

/// d [2], m [2], fifth bits [4], 16 bytes of nibbles.
void q5_1(Bytes block, float* to) {
  const auto d = half(block);
  const auto m = half(block + 2);
  const auto bits = word(block + 4);
  for (int i = 0; i < 16; ++i) {
    to[i] = static_cast<float>(low(block[8 + i]) | fifth(bits, i)) * d + m;
    to[i + 16] = static_cast<float>(high(block[8 + i]) | fifth(bits, i + 16)) * d + m;
  }
}

/// 16 bytes (scale in the low nibble, offset in the high one, for 16 numbers each), 64 bytes of bit pairs, d [2], the
/// offsets' scale [2]. Each half of 128 numbers takes 32 bytes: their lowest pairs are its first 32 numbers.
void q2_k(Bytes block, float* to) {
  const auto d = half(block + 80);
  const auto d_offset = half(block + 82);
  for (int part = 0; part < 16; ++part) {
    const auto scale = d * static_cast<float>(low(block[part]));
    const auto offset = d_offset * static_cast<float>(high(block[part]));
    const Bytes pairs = block + 16 + part / 8 * 32 + part % 2 * 16;
    const auto shift = part % 8 / 2 * 2;
    for (int i = 0; i < 16; ++i) *to++ = scale * static_cast<float>(pairs[i] >> shift & 3) - offset;
  }
}

/// Sixteen 6-bit scales in 12 bytes: their low nibbles in the first 8, their upper pairs in the last 4.
int six_bits(Bytes packed, int part) {
  const auto nibble = part < 8 ? low(packed[part]) : high(packed[part - 8]);
  return nibble | (packed[8 + part % 4] >> part / 4 * 2 & 3) << 4;
}

/// 32 bytes of third bits, 64 bytes of bit pairs as in q2_k, 12 bytes of scales less 32, d [2]. Where the third bit is
/// missing, less 4.
void q3_k(Bytes block, float* to) {
  const auto d = half(block + 108);
  for (int part = 0; part < 16; ++part) {
    const auto scale = d * static_cast<float>(six_bits(block + 96, part) - 32);
    const Bytes pairs = block + 32 + part / 8 * 32 + part % 2 * 16;
    const Bytes thirds = block + part % 2 * 16;
    const auto shift = part % 8 / 2 * 2;
    for (int i = 0; i < 16; ++i) {
      const auto number = (pairs[i] >> shift & 3) - ((thirds[i] >> part / 2 & 1) != 0 ? 0 : 4);
      *to++ = scale * static_cast<float>(number);
    }
  }
}

struct ScaleAndOffset {
  float scale;
  float offset;
};

/// Of q4_k and q5_k: d [2], the offsets' scale [2], then eight 6-bit scales and eight 6-bit offsets in 12 bytes. Those
/// of parts 0 to 3 are the low six bits of bytes 0 to 3 and 4 to 7, whose upper two belong to parts 4 to 7.
ScaleAndOffset of_part(Bytes block, int part) {
  const Bytes packed = block + 4;
  const auto upper = [&](int at) { return (packed[at] >> 6) << 4; };
  const auto scale = part < 4 ? packed[part] & 63 : low(packed[part + 4]) | upper(part - 4);
  const auto offset = part < 4 ? packed[part + 4] & 63 : high(packed[part + 4]) | upper(part);
  return {half(block) * static_cast<float>(scale), half(block + 2) * static_cast<float>(offset)};
}

/// Eight parts of 32 numbers, two to 32 bytes of nibbles: the low ones, then the high ones.
void q4_k(Bytes block, float* to) {
  for (int part = 0; part < 8; ++part) {
    const auto [scale, offset] = of_part(block, part);
    const Bytes nibbles = block + 16 + part / 2 * 32;
    for (int i = 0; i < 32; ++i)
      *to++ = scale * static_cast<float>(part % 2 == 0 ? low(nibbles[i]) : high(nibbles[i])) - offset;
  }
}

/// As q4_k, with 32 bytes of fifth bits before the nibbles: part p takes bit p of each.
void q5_k(Bytes block, float* to) {
  for (int part = 0; part < 8; ++part) {
    const auto [scale, offset] = of_part(block, part);
    const Bytes fifths = block + 16;
    const Bytes nibbles = block + 48 + part / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const auto nibble = part % 2 == 0 ? low(nibbles[i]) : high(nibbles[i]);
      *to++ = scale * static_cast<float>(nibble + (fifths[i] >> part & 1) * 16) - offset;
    }
  }
}

/// 128 bytes of nibbles, 64 bytes of upper pairs, 16 signed scales of 16 numbers each, d [2]; less 32. Each half of 128
/// numbers takes 64 and 32 bytes: the low nibbles are its first 64 numbers, the high ones the rest.
void q6_k(Bytes block, float* to) {
  const auto d = half(block + 208);
  for (int part = 0; part < 16; ++part) {
    const auto scale = d * static_cast<float>(signed_byte(block[192 + part]));
    const auto quarter = part % 8 / 2;
    const Bytes nibbles = block + part / 8 * 64 + quarter % 2 * 32 + part % 2 * 16;
    const Bytes pairs = block + 128 + part / 8 * 32 + part % 2 * 16;
    for (int i = 0; i < 16; ++i) {
      const auto nibble = quarter < 2 ? low(nibbles[i]) : high(nibbles[i]);
      *to++ = scale * static_cast<float>((nibble | (pairs[i] >> quarter * 2 & 3) << 4) - 32);
    }
  }
}

using Dequantizer = void (*)(Bytes block, float* to);

constexpr std::array<std::pair<DType, Dequantizer>, 10> dequantizers{{{DType::q8_0, q8_0},
                                                                      {DType::q4_0, q4_0},
                                                                      {DType::q4_1, q4_1},
                                                                      {DType::q5_0, q5_0},
                                                                      {DType::q5_1, q5_1},
                                                                      {DType::q2_k, q2_k},
                                                                      {DType::q3_k, q3_k},
                                                                      {DType::q4_k, q4_k},
                                                                      {DType::q5_k, q5_k},
                                                                      {DType::q6_k, q6_k}}};

}  // namespace

void dequantize(DType dtype, const std::byte* from, std::size_t n_blocks, float* to) {
  const auto length = block_length(dtype);
  const auto size = size_of(dtype);
  for (const auto& [known, dequantizer] : dequantizers) {
    if (known != dtype) continue;
    for (std::size_t i = 0; i < n_blocks; ++i) dequantizer(reinterpret_cast<Bytes>(from) + i * size, to + i * length);
  }
}

}  // namespace qkv
