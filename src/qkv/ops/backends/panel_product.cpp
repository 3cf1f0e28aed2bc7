#include "qkv/ops/backends/panel_product.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include "qkv/core/error.hpp"
#endif

namespace qkv::ops {
namespace {

/// A whole product.
template <typename T>
struct Product {
  const T* x;
  std::int64_t rows;
  Panels W;
  const float* bias;
  std::int64_t piece;
  float* y;
};

}  // namespace

#if defined(__x86_64__)

namespace {

constexpr std::int64_t lanes = 16;  // f32 numbers of one vector
constexpr std::int64_t vector_bytes = 64;
constexpr std::int64_t panel_vectors = panel_outputs / lanes;
constexpr std::int64_t step_bytes = panel_vectors * vector_bytes;  // of a panel: one input, or a pair of them in bf16
/// Outputs are shared out to the threads in halves of panels.
constexpr std::int64_t unit_vectors = panel_vectors / 2;
constexpr std::int64_t unit_outputs = unit_vectors * lanes;

/// How far ahead the weights are asked for while they are read for the first time. For one row in bf16 a fifth faster
/// than 4096, and than 0.
constexpr std::int64_t ahead_bytes = 1024;

/// Rates are counted in parts of a byte: this one is a byte in a step.
constexpr std::int64_t rate_one = 256;

/// Inputs that one step takes.
template <typename T>
constexpr std::int64_t step_inputs = sizeof(float) / sizeof(T);

/// The part of a product that is summed up in registers: some rows, some vectors of outputs, one piece of the inputs.
struct Tile {
  const std::byte* x;
  std::int64_t x_stride;  // bytes
  const std::byte* W;
  const std::byte* ahead;  // weights that are asked for meanwhile,
  std::int64_t rate;       // so many further in each step
  std::int64_t panel_bytes;
  std::int64_t steps;
  float* y;
  std::int64_t y_stride;  // numbers
  std::int64_t outputs;   // from here on; the vectors may go beyond
  bool is_first;          // piece of the sums
  const float* bias;      // in the last piece, if there is one
};

// The functions below are compiled for these instructions, whatever the rest of the program is; they are called only
// where has_panel_product() says so. Vectors are kept in plain arrays: as a template argument they lose their
// alignment. Loops are unrolled by name because the sums must stay in registers.
// NOLINTBEGIN(modernize-avoid-c-arrays)
#define QKV_FOR_VECTORS [[gnu::target("avx512f,avx512bw,avx512bf16")]]

QKV_FOR_VECTORS inline __m512 add_product(__m512 sum, __m512 x, __m512 W, float) { return _mm512_fmadd_ps(x, W, sum); }

QKV_FOR_VECTORS inline __m512 add_product(__m512 sum, __m512 x, __m512 W, std::uint16_t) {
  return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)W);
}

/// Which numbers of a vector are outputs.
template <bool whole>
constexpr __mmask16 mask_of(const Tile& tile, std::int64_t vector) {
  if constexpr (whole) return 0xFFFF;
  const auto here = std::clamp<std::int64_t>(tile.outputs - vector * lanes, 0, lanes);
  return static_cast<__mmask16>((1U << static_cast<unsigned>(here)) - 1U);
}

/// y = (the pieces before) + sum + bias.
template <bool whole, std::int64_t rows, std::int64_t vectors>
QKV_FOR_VECTORS inline void finish(const Tile& tile, const __m512 (&sum)[rows][vectors]) {
  const auto* bias = tile.bias;
  const bool is_first = tile.is_first;
#pragma GCC unroll 8
  for (std::int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v) {
      const auto mask = mask_of<whole>(tile, v);
      auto* y = tile.y + r * tile.y_stride + v * lanes;
      auto total = _mm512_add_ps(is_first ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, y), sum[r][v]);
      if (bias != nullptr) total = _mm512_add_ps(total, _mm512_maskz_loadu_ps(mask, bias + v * lanes));
      _mm512_mask_storeu_ps(y, mask, total);
    }
}

/// Where the numbers of a vector lie, from the first number of a step on.
constexpr std::int64_t place_of(std::int64_t vector, std::int64_t panel_bytes) {
  return vector / panel_vectors * panel_bytes + vector % panel_vectors * vector_bytes;
}

/// `lines`: cache lines that a step asks for.
template <typename T, std::int64_t rows, std::int64_t vectors, std::int64_t lines>
QKV_FOR_VECTORS void multiply_tile(const Tile& tile) {
  __m512 sum[rows][vectors] = {};
  for (std::int64_t step = 0; step < tile.steps; ++step) {
    const auto* ahead = tile.ahead + step * tile.rate / rate_one;
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < lines; ++v)
      _mm_prefetch(reinterpret_cast<const char*>(ahead + place_of(v, tile.panel_bytes)), _MM_HINT_T1);
    __m512 W[vectors];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < vectors; ++v)
      W[v] = _mm512_loadu_ps(tile.W + step * step_bytes + place_of(v, tile.panel_bytes));
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < rows; ++r) {
      float x_r = 0.0F;  // or a pair of numbers in bf16
      std::memcpy(&x_r, tile.x + r * tile.x_stride + step * std::int64_t{sizeof x_r}, sizeof x_r);
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < vectors; ++v) sum[r][v] = add_product(sum[r][v], _mm512_set1_ps(x_r), W[v], T{});
    }
  }
  if (tile.outputs >= vectors * lanes)
    finish<true>(tile, sum);
  else
    finish<false>(tile, sum);
}

#undef QKV_FOR_VECTORS
// NOLINTEND(modernize-avoid-c-arrays)

/// Rows of a tile, so that sums, weights and one input have room in 32 registers.
constexpr std::int64_t most_rows(std::int64_t vectors) { return vectors > panel_vectors ? 3 : 6; }

template <typename T, std::int64_t vectors, std::int64_t lines, std::size_t... rows>
void multiply(const Tile& tile, std::int64_t count, std::index_sequence<rows...> /*from 0*/) {
  using Multiply = void (*)(const Tile&);
  static constexpr std::array<Multiply, sizeof...(rows)> by_rows{
      multiply_tile<T, static_cast<std::int64_t>(rows) + 1, vectors, lines>...};
  by_rows.at(static_cast<std::size_t>(count - 1))(tile);
}

/// All rows times the outputs from `first` on that these vectors hold: a piece of the weights after the other, each for
/// a few rows at a time, while the next piece is on its way. `more`: as many outputs follow.
template <typename T, std::int64_t vectors>
void multiply_outputs(const Product<T>& product, std::int64_t first, bool more) {
  const auto& W = product.W;
  constexpr std::int64_t widest = most_rows(vectors);
  constexpr std::int64_t span = (vectors + panel_vectors - 1) / panel_vectors;  // panels
  const auto groups = (product.rows + widest - 1) / widest;
  const auto* here = W.numbers + first / panel_outputs * W.panel_bytes + first % panel_outputs / lanes * vector_bytes;
  for (std::int64_t i = 0; i < W.in; i += product.piece) {
    const bool is_last = i + product.piece >= W.in;
    const auto steps = (std::min(product.piece, W.in - i) + step_inputs<T> - 1) / step_inputs<T>;
    const auto* block = here + i / step_inputs<T> * step_bytes;
    const auto* ahead = is_last ? here + span * W.panel_bytes : block + steps * step_bytes;
    if (groups == 1)
      ahead = block + ahead_bytes;
    else if (is_last && !more)
      ahead = block;  // is here already
    for (std::int64_t group = 0, row = 0; group < groups; ++group) {
      const auto rows = (product.rows - row) / (groups - group);
      const Tile tile{.x = reinterpret_cast<const std::byte*>(product.x + row * W.in + i),
                      .x_stride = W.in * static_cast<std::int64_t>(sizeof(T)),
                      .W = block,
                      .ahead = ahead + steps * group / groups * step_bytes,
                      .rate = step_bytes * rate_one / groups,
                      .panel_bytes = W.panel_bytes,
                      .steps = steps,
                      .y = product.y + row * W.out + first,
                      .y_stride = W.out,
                      .outputs = W.out - first,
                      .is_first = i == 0,
                      .bias = is_last && product.bias != nullptr ? product.bias + first : nullptr};
      if (groups < panel_vectors)  // so few that each step must ask for more than a line
        multiply<T, vectors, vectors>(tile, rows, std::make_index_sequence<widest>());
      else
        multiply<T, vectors, 1>(tile, rows, std::make_index_sequence<widest>());
      row += rows;
    }
  }
}

/// Few rows are multiplied by two panels at once: memory is read faster in two places.
template <typename T>
void multiply_units(const Product<T>& product, std::int64_t unit, std::int64_t end) {
  while (unit < end) {
    const auto whole = unit % 2 == 0 ? end - unit : 1;  // units from the beginning of a panel on
    const auto first = unit * unit_outputs;
    if (whole >= 4 && product.rows <= most_rows(2 * panel_vectors)) {
      multiply_outputs<T, 2 * panel_vectors>(product, first, whole >= 8);
      unit += 4;
    } else if (whole >= 2) {
      multiply_outputs<T, panel_vectors>(product, first, whole >= 4);
      unit += 2;
    } else {
      multiply_outputs<T, unit_vectors>(product, first, false);
      unit += 1;
    }
  }
}

/// Some rows of a product.
template <typename T>
Product<T> rows_of(Product<T> product, std::int64_t first, std::int64_t count) {
  product.x += first * product.W.in;
  product.y += first * product.W.out;
  product.rows = count;
  return product;
}

/// Of few rows each thread makes some outputs, and reads only their weights.
template <typename T>
void share_out(const Product<T>& product) {
  const auto units = (product.W.out + unit_outputs - 1) / unit_outputs;
#pragma omp parallel
  {
    const std::int64_t worker = omp_get_thread_num();
    const std::int64_t workers = omp_get_num_threads();
    const auto share = [&](std::int64_t all) {
      return std::pair(all * worker / workers, all * (worker + 1) / workers);
    };
    if (shares_rows(product.rows, workers)) {
      const auto [first, end] = share(product.rows);
      multiply_units(rows_of(product, first, end - first), 0, units);
    } else {
      const auto [first, end] = share(units);
      multiply_units(product, first, end);
    }
  }
}

}  // namespace

bool has_panel_product(Precision precision) {
  const bool f32 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  return precision == Precision::f32 ? f32 : f32 && __builtin_cpu_supports("avx512bf16") != 0;
}

#else

namespace {

template <typename T>
void share_out(const Product<T>& /*product*/) {
  throw Error(ErrorCode::usage, "product of few rows: not written for this processor");
}

}  // namespace

bool has_panel_product(Precision) { return false; }

#endif

bool shares_rows(std::int64_t rows, std::int64_t threads) {
  constexpr std::int64_t enough = 32;
  return threads > 1 && rows >= enough * threads * threads;
}

void multiply_panels(const float* x, std::int64_t rows, const Panels& W, const float* bias, std::int64_t piece,
                     float* y) {
  share_out(Product<float>{x, rows, W, bias, piece, y});
}

void multiply_panels(const std::uint16_t* x, std::int64_t rows, const Panels& W, const float* bias, std::int64_t piece,
                     float* y) {
  share_out(Product<std::uint16_t>{x, rows, W, bias, piece, y});
}

}  // namespace qkv::ops
