#pragma once

#include <algorithm>
#include <cstdint>

#include "qkv/model/config.hpp"
#include "qkv/tensor/matrix.hpp"

namespace qkv {

/// Query rows that one table of scores holds. A tile of rows needs only the keys up to its last row, so that of the
/// half that the mask hides, almost nothing is computed.
inline constexpr std::int64_t query_tile = 64;
/// Where BLAS multiplies small matrices as they lie, smaller tiles are as fast, and waste less.
inline constexpr std::int64_t small_query_tile = 32;

/// Between the rows of transposed keys, so that they do not all compete for the same lines of the cache when their
/// length is a power of two.
inline constexpr std::int64_t keys_T_gap = 16;

/// In a narrow model rows go through every product in blocks of this many, a last one filled up: of blocks of one shape
/// the same row comes out the same, bit for bit, however long the text is. BLAS promises that for no other shape, and
/// in a wide model the blocks would cost too much.
inline constexpr std::int64_t narrow_block = 16;
[[nodiscard]] inline bool is_narrow(const Config& config) { return config.d_model < 256; }

/// Room for the numbers that one forward pass makes and forgets, for up to `tokens` new tokens with up to `tokens`
/// keys, and for up to `workers` threads that share the heads.
struct Scratch {
  Scratch() = default;
  Scratch(const Config& config, std::int64_t tokens, int workers)
      : x(tokens * config.d_model),
        normed(tokens * config.d_model),
        delta(tokens * config.d_model),
        q(tokens * config.attention.q_width()),
        heads(tokens * config.attention.q_width()),
        keys_T(is_narrow(config) ? 0 : (tokens + keys_T_gap) * config.attention.kv_width()),
        tables(workers * std::min(tokens, query_tile) * tokens),
        inner(tokens * config.mlp.d_ff),
        gate(config.mlp.gated ? tokens * config.mlp.d_ff : 0),
        token_rows(tokens * config.embedding_width),
        table_size(std::min(tokens, query_tile) * tokens) {}

  /// [Hkv K, S]: the keys of one layer, a row for each of their dimensions.
  [[nodiscard]] MatrixView transposed_keys(std::int64_t width, std::int64_t tokens) const {
    return {keys_T.data(), width, tokens, keys_T.size() / width};
  }

  /// [rows, cols], the table of one worker.
  [[nodiscard]] MatrixView table(int worker, std::int64_t rows, std::int64_t cols) const {
    return {tables.data() + worker * table_size, rows, cols};
  }

  Buffer x;           // [T, D] the residual stream
  Buffer normed;      // [T, D] what a half of a block reads
  Buffer delta;       // [T, D] what it adds to the stream
  Buffer q;           // [T, H K]
  Buffer heads;       // [T, H K] the outputs of the heads, side by side
  Buffer keys_T;      // [Hkv K, S]
  Buffer tables;      // [tile, S] for each worker: scores, then weights, of one head
  Buffer inner;       // [T, F]
  Buffer gate;        // [T, F]
  Buffer token_rows;  // [T, E], where E is not D
  std::int64_t table_size = 0;
};

}  // namespace qkv
