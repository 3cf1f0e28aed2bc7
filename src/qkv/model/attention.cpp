#include "qkv/model/attention.hpp"

#include <algorithm>

#include "qkv/ops/elementwise.hpp"
#include "qkv/ops/matmul.hpp"
#include "qkv/ops/parallel.hpp"
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

/// The slices that one head works on, for some of its queries.
struct Slices {
  ConstMatrixView q;  // [T, K]
  ConstMatrixView k;  // [S, K], or, transposed, [K, S]
  bool transposed;
  ConstMatrixView v;  // [S, K]
  MatrixView table;   // [T, S] the scores, then the weights
  MatrixView out;     // [T, K]
};

/// Calls work(first, count) for runs that make up all keys, each so short that BLAS multiplies a tile of queries by it
/// in place.
template <typename Work>
void for_runs_of_keys(std::int64_t keys, std::int64_t queries, std::int64_t head_dim, const Work& work) {
  constexpr std::int64_t even = 64;  // whole vectors
  const auto most = ops::largest_in_place() / (queries * head_dim) / even * even;
  const auto runs = most == 0 ? 1 : (keys + most - 1) / most;
  const auto run = runs == 1 ? keys : ((keys + runs - 1) / runs + even - 1) / even * even;
  for (std::int64_t first = 0; first < keys; first += run) work(first, std::min(run, keys - first));
}

/// table = scale q kT
void multiply_by_keys(const Slices& slices, float scale) {
  const auto& q = slices.q;
  if (!slices.transposed) return ops::matmul_transposed(q, slices.k, scale, slices.table);
  for_runs_of_keys(slices.table.cols, q.rows, q.cols, [&](std::int64_t first, std::int64_t count) {
    ops::matmul(q, slices.k.columns(first, count), slices.table.columns(first, count), scale);
  });
}

/// out = table v
void blend_values(const Slices& slices) {
  const auto& q = slices.q;
  if (!slices.transposed) return ops::matmul(slices.table, slices.v, slices.out);
  for_runs_of_keys(slices.table.cols, q.rows, q.cols, [&](std::int64_t first, std::int64_t count) {
    const auto weights = slices.table.columns(first, count);
    const auto values = slices.v.rows_window(first, count);
    if (first == 0)
      ops::matmul(weights, values, slices.out);
    else
      ops::add_matmul(weights, values, slices.out);
  });
}

/// One head. Only the first `rows` queries and the keys up to the last of them are of the text. Vaswani et al.,
/// "Attention Is All You Need", 2017, section 3.2.1.
void attend(const Slices& slices, const Head& head, std::int64_t rows, const Probe& probe) {
  const auto& table = slices.table;
  const auto queries = table.rows_window(0, rows);
  const auto seen = queries.columns(0, std::min(head.first + rows, table.cols));
  multiply_by_keys(slices, head.attention.scale);  // scores  = q kT / sqrt(head_dim)
  finish_scores(head, seen);
  probe(Place::scores, seen, head.first, head.index);
  ops::causal_softmax(queries, head.first,
                      head.attention.window);  // weights = softmax(scores), over keys 0 .. first + t
  probe(Place::weights, seen, head.first, head.index);
  blend_values(slices);  // out     = weights v
  probe(Place::blend, slices.out.rows_window(0, rows), head.first, head.index);
}

/// The queries of a pass, cut into tiles of rows. Each tile needs the keys up to its last row, no more.
struct Tiles {
  std::int64_t size;
  bool filled;         // a last tile is filled up, see narrow_block
  bool small;          // for products in place, with transposed keys
  std::int64_t first;  // row of the pass: those before it are in tiles that nobody needs
  std::int64_t count;
};

/// In place BLAS multiplies by keys that are transposed, which pays for many queries: with it a pass of GPT-2 on two
/// cores of a Zen 4 spends 7.3 ms in the products of its heads at 256 tokens and 85 ms at 1000, without it 8.5 and 106.
Tiles tiles_of(const Pass& pass) {
  const bool blocks = pass.narrow && pass.count > 1 && pass.past % narrow_block == 0;
  const bool small = !pass.narrow && pass.count >= query_tile && ops::largest_in_place() > 0;
  const auto size = blocks ? narrow_block : small ? small_query_tile : query_tile;
  const auto first = pass.needed / size * size;
  return {size, blocks, small, first, (pass.count - first + size - 1) / size};
}

/// Calls work(item, worker) for each tile of each head. Little work is not shared, and heads come in order where
/// somebody looks.
template <typename Work>
void share_heads(std::int64_t items, std::int64_t products, const Probe& probe, const Work& work) {
  constexpr std::int64_t worth_sharing = std::int64_t{1} << 17U;  // products of two numbers: some 10 microseconds
  const bool shown = probe.shows(Place::scores | Place::weights | Place::blend);
  ops::share_out(items, shown || products < worth_sharing ? ops::Workers::one : ops::Workers::all, work);
}

/// [S, Hkv K] -> [Hkv K, S]
MatrixView transposed(ConstMatrixView keys, const AttentionConfig& config, const Scratch& scratch) {
  const auto to = scratch.transposed_keys(keys.cols, keys.rows);
  ops::share_out(config.n_kv_heads, ops::Workers::all, [&](std::int64_t h, int) {
    const auto first = h * config.head_dim;
    ops::transpose(keys.columns(first, config.head_dim), to.rows_window(first, config.head_dim));
  });
  return to;
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

/// x [T, D] -> queries [T, H K] from row `first_query` on, and keys and values [T, Hkv K] as they are kept.
void Attention::project(ConstMatrixView x, const Pass& pass, std::int64_t first_query, MatrixView q,
                        const KeyValues& made) const {
  const auto queries = q.rows_window(first_query, q.rows - first_query);
  W_q.apply(x.rows_window(first_query, queries.rows), queries);
  W_k.apply(x, made.keys);
  W_v.apply(x, made.values);
  if (config.clip > 0.0)
    for (const auto& part : {queries, made.keys, made.values}) ops::clip(static_cast<float>(config.clip), part);
  if (q_norm) norm_heads(*q_norm, config.qk_norm.kind, config.head_dim, queries);
  if (k_norm) norm_heads(*k_norm, config.qk_norm.kind, config.head_dim, made.keys);
  if (pass.rotary == nullptr) return;
  pass.rotary->rotate(queries, config.head_dim, pass.past + first_query);
  pass.rotary->rotate(made.keys, config.head_dim, pass.past);
}

void Attention::apply(ConstMatrixView x, const Pass& pass, const KeyValues& kept, Scratch& scratch, const Probe& probe,
                      MatrixView out) const {
  const auto head_dim = config.head_dim;
  const auto tiles = tiles_of(pass);
  const auto q = scratch.q.view(pass.count, config.q_width());
  const KeyValues made{kept.keys.rows_window(pass.past, pass.count), kept.values.rows_window(pass.past, pass.count)};
  project(x, pass, tiles.first, q, made);
  probe(Place::q, q, pass.past);
  probe(Place::k, made.keys, pass.past);
  probe(Place::v, made.values, pass.past);

  const auto keys = kept.keys.rows_window(0, pass.past + pass.count);
  const auto keys_T = tiles.small ? transposed(keys, config, scratch) : MatrixView{};

  const auto heads = scratch.heads.view(pass.count, config.q_width());
  const auto group = config.n_heads / config.n_kv_heads;  // heads that share a key/value head
  const auto attend_tile = [&](std::int64_t item, int worker) {
    const auto h = item / tiles.count;
    const auto row = tiles.first + item % tiles.count * tiles.size;
    const auto rows = std::min(tiles.size, pass.count - row);
    const auto filled = tiles.filled ? tiles.size : rows;
    const auto seen = pass.past + row + filled;
    const auto kv_slice = h / group * head_dim;
    const Slices slices{q.columns(h * head_dim, head_dim).rows_window(row, filled),
                        tiles.small ? keys_T.rows_window(kv_slice, head_dim).columns(0, seen)
                                    : kept.keys.columns(kv_slice, head_dim).rows_window(0, seen),
                        tiles.small,
                        kept.values.columns(kv_slice, head_dim).rows_window(0, seen),
                        scratch.table(worker, filled, seen),
                        heads.columns(h * head_dim, head_dim).rows_window(row, filled)};
    attend(slices, {*this, h, pass.past + row}, rows, probe.by_worker(worker));
  };
  share_heads(config.n_heads * tiles.count, (pass.count - tiles.first) * (pass.past + pass.count) * config.q_width(),
              probe, attend_tile);
  for (const auto h : pass.ablated) ops::clear(heads.columns(h * head_dim, head_dim));
  probe(Place::head_out, heads, pass.past);
  const auto needed = pass.count - pass.needed;
  W_o.apply(heads.rows_window(pass.needed, needed), out.rows_window(pass.needed, needed));
}

}  // namespace qkv
