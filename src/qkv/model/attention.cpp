#include "qkv/model/attention.hpp"

#include <algorithm>

#include "qkv/ops/elementwise.hpp"
#include "qkv/ops/matmul.hpp"
#include "qkv/ops/softmax.hpp"

namespace qkv {
namespace {

/// One head of an attention, and where its first query stands in the text.
struct Head {
  const Attention& attention;
  std::int64_t index;
  std::int64_t first;
};

/// What else goes into scores before the softmax, where a model has it.
void finish_scores(const Head& head, MatrixView scores) {
  const auto& attention = head.attention;
  if (attention.alibi) attention.alibi->add(head.index, head.first, scores);
  if (attention.config.soft_cap > 0.0) ops::soft_cap(static_cast<float>(attention.config.soft_cap), scores);
}

/// One head: q [T, K], k [S, K], v [S, K] -> out [T, K]. `table` [T, S] holds the scores, then the weights. Only the
/// first `rows` queries and the keys up to the last of them are of the text. Vaswani et al., "Attention Is All You
/// Need", 2017, section 3.2.1.
void attend(ConstMatrixView q, ConstMatrixView k, ConstMatrixView v, const Head& head, std::int64_t rows,
            const Probe& probe, MatrixView table, MatrixView out) {
  const auto queries = table.rows_window(0, rows);
  const auto seen = queries.columns(0, std::min(head.first + rows, table.cols));
  ops::matmul_transposed(q, k, head.attention.scale, table);  // scores  = q kT / sqrt(head_dim)
  finish_scores(head, seen);
  probe(Place::scores, seen, head.first, head.index);
  ops::causal_softmax(queries, head.first,
                      head.attention.window);  // weights = softmax(scores), over keys 0 .. first + t
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
           {head.attention, head.index, head.first + row}, rows, probe, table.view(filled, seen),
           out.rows_window(row, filled));
  }
}

/// Norms queries or keys [T, heads K], in place.
void norm_heads(const Norm& norm, QkNormConfig::Kind kind, std::int64_t head_dim, MatrixView x) {
  if (kind == QkNormConfig::Kind::whole) return norm.apply(x, x);
  for (std::int64_t first = 0; first < x.cols; first += head_dim) {
    const auto head = x.columns(first, head_dim);
    (kind == QkNormConfig::Kind::own_head ? norm.slice(first, head_dim) : norm).apply(head, head);
  }
}

}  // namespace

/// x [T, D] -> queries [T, H K], and keys and values [T, Hkv K] as they are kept.
void Attention::project(ConstMatrixView x, const Pass& pass, MatrixView q, MatrixView k, MatrixView v) const {
  W_q.apply(x, q);
  W_k.apply(x, k);
  W_v.apply(x, v);
  if (config.clip > 0.0)
    for (const auto& part : {q, k, v}) ops::clip(static_cast<float>(config.clip), part);
  if (q_norm) norm_heads(*q_norm, config.qk_norm.kind, config.head_dim, q);
  if (k_norm) norm_heads(*k_norm, config.qk_norm.kind, config.head_dim, k);
  if (pass.rotary == nullptr) return;
  pass.rotary->rotate(q, config.head_dim, pass.past);
  pass.rotary->rotate(k, config.head_dim, pass.past);
}

void Attention::apply(ConstMatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe,
                      MatrixView out) const {
  const auto head_dim = config.head_dim;
  const auto q = scratch.q.view(pass.count, config.q_width());
  const auto k = kept.keys.rows_window(pass.past, pass.count);
  const auto v = kept.values.rows_window(pass.past, pass.count);
  project(x, pass, q, k, v);
  probe(Place::q, q, pass.past);
  probe(Place::k, k, pass.past);
  probe(Place::v, v, pass.past);

  const auto heads = scratch.heads.view(pass.count, config.q_width());
  const auto group = config.n_heads / config.n_kv_heads;  // heads that share a key/value head
  for (std::int64_t h = 0; h < config.n_heads; ++h) {
    const auto slice = h * head_dim;
    const auto kv_slice = h / group * head_dim;
    attend_in_tiles(q.columns(slice, head_dim), kept.keys.columns(kv_slice, head_dim),
                    kept.values.columns(kv_slice, head_dim), {*this, h, pass.past}, pass.narrow, probe, scratch.table,
                    heads.columns(slice, head_dim));
  }
  for (const auto h : pass.ablated) ops::clear(heads.columns(h * head_dim, head_dim));
  probe(Place::head_out, heads, pass.past);
  W_o.apply(heads, out);
}

}  // namespace qkv
