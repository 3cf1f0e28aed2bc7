#include "qkv/ops/backends/row_product.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include "qkv/core/error.hpp"
#endif

namespace qkv::ops {

#if defined(__x86_64__)

namespace {

constexpr int lanes = 16;  // f32 numbers of one vector
constexpr int vectors = panel_outputs / lanes;

// The functions below are compiled for these instructions, whatever the rest of the program is; they are called only
// where has_row_product() says so.

/// y = total + bias, for the first `outputs` of a panel.
[[gnu::target("avx512f")]] void finish(const __m512 (&total)[vectors], const float* bias, std::int64_t outputs,
                                       float* y) {
  for (int v = 0; v < vectors; ++v) {
    const auto here = std::clamp<std::int64_t>(outputs - v * lanes, 0, lanes);
    if (here == 0) return;
    const auto mask = static_cast<__mmask16>((1U << static_cast<unsigned>(here)) - 1U);
    const auto sum =
        bias == nullptr ? total[v] : _mm512_add_ps(total[v], _mm512_maskz_loadu_ps(mask, bias + v * lanes));
    _mm512_mask_storeu_ps(y + v * lanes, mask, sum);
  }
}

[[gnu::target("avx512f")]] void multiply_panel(const float* x, const std::byte* panel, std::int64_t in,
                                               std::int64_t piece, const float* bias, std::int64_t outputs, float* y) {
  const auto* weights = reinterpret_cast<const float*>(panel);
  __m512 total[vectors] = {};
  for (std::int64_t first = 0; first < in; first += piece) {
    __m512 sum[vectors] = {};
    const auto end = std::min(first + piece, in);
    for (auto i = first; i < end; ++i) {
      const auto x_i = _mm512_set1_ps(x[i]);
      for (int v = 0; v < vectors; ++v)
        sum[v] = _mm512_fmadd_ps(x_i, _mm512_loadu_ps(weights + i * panel_outputs + v * lanes), sum[v]);
    }
    for (int v = 0; v < vectors; ++v) total[v] = _mm512_add_ps(total[v], sum[v]);
  }
  finish(total, bias, outputs, y);
}

[[gnu::target("avx512f,avx512bf16")]] void multiply_panel(const std::uint16_t* x, const std::byte* panel,
                                                          std::int64_t in, std::int64_t piece, const float* bias,
                                                          std::int64_t outputs, float* y) {
  constexpr std::int64_t vector_bytes = 2 * lanes * sizeof(std::uint16_t);
  __m512 total[vectors] = {};
  for (std::int64_t first = 0; first < in; first += piece) {
    __m512 sum[vectors] = {};
    const auto end = std::min(first + piece, in);
    for (auto i = first; i < end; i += 2) {
      const auto pair = x[i] | static_cast<std::uint32_t>(x[i + 1]) << 16U;
      const auto x_i = (__m512bh)_mm512_set1_epi32(static_cast<int>(pair));
      for (int v = 0; v < vectors; ++v) {
        const auto weights = _mm512_loadu_si512(panel + (i / 2 * vectors + v) * vector_bytes);
        sum[v] = _mm512_dpbf16_ps(sum[v], x_i, (__m512bh)weights);
      }
    }
    for (int v = 0; v < vectors; ++v) total[v] = _mm512_add_ps(total[v], sum[v]);
  }
  finish(total, bias, outputs, y);
}

template <typename T>
void multiply_panels(const T* x, const Panels& W, const float* bias, std::int64_t piece, float* y) {
  const auto panels = (W.out + panel_outputs - 1) / panel_outputs;
#pragma omp parallel for schedule(static)
  for (std::int64_t p = 0; p < panels; ++p) {
    const auto first = p * panel_outputs;
    multiply_panel(x, W.numbers + p * W.panel_bytes, W.in, piece, bias == nullptr ? nullptr : bias + first,
                   W.out - first, y + first);
  }
}

}  // namespace

bool has_row_product(Precision precision) {
  const bool f32 = __builtin_cpu_supports("avx512f") != 0;
  return precision == Precision::f32 ? f32 : f32 && __builtin_cpu_supports("avx512bf16") != 0;
}

#else

namespace {

template <typename T>
void multiply_panels(const T*, const Panels&, const float*, std::int64_t, float*) {
  throw Error(ErrorCode::usage, "product of one row: not written for this processor");
}

}  // namespace

bool has_row_product(Precision) { return false; }

#endif

void multiply_row(const float* x, const Panels& W, const float* bias, std::int64_t piece, float* y) {
  multiply_panels(x, W, bias, piece, y);
}

void multiply_row(const std::uint16_t* x, const Panels& W, const float* bias, std::int64_t piece, float* y) {
  multiply_panels(x, W, bias, piece, y);
}

}  // namespace qkv::ops
