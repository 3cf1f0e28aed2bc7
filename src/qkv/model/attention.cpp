#include "qkv/model/attention.hpp"

#include <algorithm>

#include "qkv/ops/elementwise.hpp"
#include "qkv/ops/matmul.hpp"
#include "qkv/ops/softmax.hpp"

namespace qkv {
namespace {

/// Which head, how its scores are scaled, and where its first query stands in the text.
struct Head {
  std::int64_t index;
  float scale;
  std::int64_t first;
};

/// One head: q [T, K], k [S, K], v [S, K] -> out [T, K]. `table` [T, S] holds the scores, then the weights. Only the
/// first `rows` queries and the keys up to the last of them are of the text. Vaswani et al., "Attention Is All You
/// Need", 2017, section 3.2.1.
void attend(ConstMatrixView q, ConstMatrixView k, ConstMatrixView v, const Head& head, std::int64_t rows,
            const Probe& probe, MatrixView table, MatrixView out) {
  const auto queries = table.rows_window(0, rows);
  const auto seen = queries.columns(0, std::min(head.first + rows, table.cols));
  ops::matmul_transposed(q, k, head.scale, table);  // scores  = q kT / sqrt(head_dim)
  probe(Place::scores, seen, head.first, head.index);
  ops::causal_softmax(queries, head.first);  // weights = softmax(scores), row t over keys 0 .. first + t
  probe(Place::weights, seen, head.first, head.index);
  ops::matmul(table, v, out);  // out     = weights v
  probe(Place::blend, out.rows_window(0, rows), head.first, head.index);
}

/// The same, a tile of query rows after the other, each with the keys that its last row may see.
void attend_in_tiles(ConstMatrixView q, ConstMatrixView k, ConstMatrixView v, const Head& head, bool narrow,
                     const Probe& probe, const Buffer& table, MatrixView out) {
  const bool blocks = narrow && q.rows > 1 && head.first % narrow_block == 0;
  const auto tile = blocks ? narrow_block : query_tile;
  for (std::int64_t row = 0; row < q.rows; row += tile) {
    const auto rows = std::min(tile, q.rows - row);
    const auto filled = blocks ? tile : rows;
    const auto seen = head.first + row + filled;
    attend(q.rows_window(row, filled), k.rows_window(0, seen), v.rows_window(0, seen),
           {head.index, head.scale, head.first + row}, rows, probe, table.view(filled, seen),
           out.rows_window(row, filled));
  }
}

}  // namespace

void Attention::apply(ConstMatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe,
                      MatrixView out) const {
  const auto head_dim = config.head_dim;
  const auto q = scratch.q.view(pass.count, config.q_width());
  const auto k = kept.keys.rows_window(pass.past, pass.count);
  const auto v = kept.values.rows_window(pass.past, pass.count);
  W_q.apply(x, q);
  W_k.apply(x, k);
  W_v.apply(x, v);
  if (pass.rotary != nullptr) {
    pass.rotary->rotate(q, head_dim, pass.past);
    pass.rotary->rotate(k, head_dim, pass.past);
  }
  probe(Place::q, q, pass.past);
  probe(Place::k, k, pass.past);
  probe(Place::v, v, pass.past);

  const auto heads = scratch.heads.view(pass.count, config.q_width());
  const auto group = config.n_heads / config.n_kv_heads;  // heads that share a key/value head
  for (std::int64_t h = 0; h < config.n_heads; ++h) {
    const auto slice = h * head_dim;
    const auto kv_slice = h / group * head_dim;
    attend_in_tiles(q.columns(slice, head_dim), kept.keys.columns(kv_slice, head_dim),
                    kept.values.columns(kv_slice, head_dim), {h, scale, pass.past}, pass.narrow, probe, scratch.table,
                    heads.columns(slice, head_dim));
  }
  for (const auto h : pass.ablated) ops::clear(heads.columns(h * head_dim, head_dim));
  probe(Place::head_out, heads, pass.past);
  W_o.apply(heads, out);
}

}  // namespace qkv
