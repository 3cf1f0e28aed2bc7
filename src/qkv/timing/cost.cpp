#include "qkv/timing/cost.hpp"

#include <algorithm>

namespace qkv {
namespace {

constexpr std::int64_t number_bytes = 4;    // of whatever is f32
constexpr std::int64_t soft_cap_flops = 3;  // cap tanh(x / cap)

/// x [rows, in] -> y [rows, out].
struct LinearShape {
  std::int64_t rows;
  std::int64_t in;
  std::int64_t out;
  bool bias;
};

Work linear(const LinearShape& shape, std::int64_t weight_bytes) {
  const auto biases = shape.bias ? shape.out : 0;
  return {shape.rows * (2 * shape.in * shape.out + biases),
          shape.in * shape.out * weight_bytes + biases * number_bytes};
}

void add(const Work& more, Work& work) {
  work.flops += more.flops;
  work.bytes += more.bytes;
}

Work times(std::int64_t count, const Work& work) { return {count * work.flops, count * work.bytes}; }

std::int64_t activation_flops(ops::Activation activation) {
  switch (activation) {
    case ops::Activation::gelu_tanh:
      return 8;  // x / (1 + exp(-2u)), u = c (x + a x^3)
    case ops::Activation::gelu_erf:
      return 5;  // x / 2 (1 + erf(x / sqrt(2)))
    case ops::Activation::silu:
      return 3;  // x / (1 + exp(-x))
    case ops::Activation::relu:
      return 0;
  }
  return 0;
}

Work norm(const NormConfig& config, std::int64_t rows, std::int64_t width) {
  const std::int64_t plain = config.kind == NormConfig::Kind::layer ? 5 : 3;
  const std::int64_t learned = config.gain ? (config.bias ? 2 : 1) : 0;  // vectors
  return {rows * width * (plain + learned), width * learned * number_bytes};
}

/// The norms of so many rows of queries and of keys.
Work qk_norms(const AttentionConfig& a, std::int64_t queries, std::int64_t keys) {
  const auto& config = a.qk_norm;
  if (config.kind == QkNormConfig::Kind::none) return {};
  const auto of_rows = [&](std::int64_t rows, std::int64_t heads) {
    const bool one_gain = config.kind == QkNormConfig::Kind::head;  // for all heads
    return one_gain ? norm(config.norm, rows * heads, a.head_dim) : norm(config.norm, rows, heads * a.head_dim);
  };
  auto work = of_rows(queries, a.n_heads);
  add(of_rows(keys, a.n_kv_heads), work);
  return work;
}

/// How many numbers of a head are turned.
std::int64_t rotated_count(const PositionConfig& position, std::int64_t layer) {
  const auto index = position.rotary_index(layer);
  if (index < 0) return 0;
  return index == 0 ? position.rotary.n_rotated : position.second_rotary->n_rotated;
}

/// `queries`: of how many of the new tokens.
Work qkv(const Config& config, const Step& step, std::int64_t layer, std::int64_t queries, std::int64_t weight_bytes) {
  const auto& a = config.attention;
  Work work;
  add(linear({queries, config.d_model, a.q_width(), a.bias_q}, weight_bytes), work);
  add(linear({step.count, config.d_model, a.kv_width(), a.bias_k}, weight_bytes), work);
  add(linear({step.count, config.d_model, a.kv_width(), a.bias_v}, weight_bytes), work);
  work.bytes += 2 * step.count * a.kv_width() * number_bytes;  // the new keys and values are kept
  add(qk_norms(a, queries, step.count), work);
  work.flops += (queries * a.n_heads + step.count * a.n_kv_heads) * 3 * rotated_count(config.position, layer);
  return work;
}

Work mlp(const Config& config, std::int64_t rows, std::int64_t weight_bytes) {
  const auto& mlp = config.mlp;
  Work work;
  const auto inwards = linear({rows, config.d_model, mlp.d_ff, mlp.bias_in}, weight_bytes);
  add(inwards, work);
  if (mlp.gated) add({inwards.flops + rows * mlp.d_ff, inwards.bytes}, work);
  work.flops += rows * mlp.d_ff * activation_flops(mlp.activation);
  add(linear({rows, mlp.d_ff, config.d_model, mlp.bias_out}, weight_bytes), work);
  return work;
}

Work head(const Config& config, std::int64_t weight_bytes) {
  auto work = linear({1, config.token_width(), config.n_vocab, config.head.bias}, weight_bytes);
  if (config.embedding_width > 0) add(linear({1, config.d_model, config.embedding_width, false}, weight_bytes), work);
  if (config.logit_scale != 1.0) work.flops += config.n_vocab;
  if (config.head.soft_cap > 0.0) work.flops += config.n_vocab * soft_cap_flops;
  return work;
}

/// `block_rows`: rows that all blocks together add to, twice.
Work rest(const Config& config, std::int64_t rows, std::int64_t block_rows, std::int64_t weight_bytes) {
  const auto numbers = rows * config.d_model;
  Work work{2 * block_rows * config.d_model, rows * config.token_width() * number_bytes};
  if (config.embedding_width > 0)
    add(linear({rows, config.embedding_width, config.d_model, false}, weight_bytes), work);
  if (config.embedding_norm) add(norm(config.norm, rows, config.d_model), work);
  if (config.embedding_scale != 1.0) work.flops += numbers;
  if (config.residual_scale != 1.0) work.flops += 2 * block_rows * config.d_model;
  if (config.position.kind == PositionConfig::Kind::learned) add({numbers, numbers * number_bytes}, work);
  return work;
}

/// Cells of scores that the last `queries` new tokens of one layer may see, all heads together: query t of the new ones
/// sees the kept keys, those before it, and its own, as far as a window reaches.
std::int64_t visible_cells(const AttentionConfig& attention, const Step& step, std::int64_t queries,
                           std::int64_t window) {
  std::int64_t cells = 0;
  for (auto t = step.count - queries; t < step.count; ++t) {
    const auto keys = step.past + t + 1;
    cells += window == 0 ? keys : std::min(keys, window);
  }
  return attention.n_heads * cells;
}

/// What a cell of scores takes.
std::int64_t score_flops(const Config& config) {
  const auto& a = config.attention;
  const std::int64_t alibi = config.position.kind == PositionConfig::Kind::alibi ? 2 : 0;
  return 2 * a.head_dim + 1 + alibi + (a.soft_cap > 0.0 ? soft_cap_flops : 0);
}

/// Norms of a block that every row goes through, for its keys and values, and those that only needed rows do.
std::int64_t norms_for_keys(const Config& config) { return config.norm_places.before ? 1 : 0; }
std::int64_t other_norms(const Config& config) {
  const auto& places = config.norm_places;
  return (places.before && config.residual != Residual::parallel_one_norm ? 1 : 0) + (places.after ? 2 : 0) +
         (places.stream ? 2 : 0);
}

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::norms:
      return "norms";
    case Part::qkv:
      return "W_q W_k W_v";
    case Part::scores:
      return "scores";
    case Part::softmax:
      return "softmax";
    case Part::blend:
      return "blend";
    case Part::w_o:
      return "W_o";
    case Part::mlp:
      return "MLP";
    case Part::head:
      return "head";
    case Part::rest:
      return "rest";
  }
  return "?";
}

PerPart<Work> count_work(const Config& config, const Step& step, std::int64_t weight_bytes) {
  const auto& a = config.attention;
  PerPart<Work> work;
  if (config.final_norm) add(norm(config.norm, 1, config.d_model), work[Part::norms]);
  for (std::int64_t layer = 0; layer < config.n_layers; ++layer) {
    const auto needed = layer + 1 < config.n_layers ? step.count : 1;
    add(times(norms_for_keys(config), norm(config.norm, step.count, config.d_model)), work[Part::norms]);
    add(times(other_norms(config), norm(config.norm, needed, config.d_model)), work[Part::norms]);
    add(qkv(config, step, layer, needed, weight_bytes), work[Part::qkv]);
    const auto window = a.window_of(layer);
    const auto cells = visible_cells(a, step, needed, window);
    const auto kept = window == 0 ? step.past : std::min(step.past, window);
    const auto kept_bytes = kept * a.kv_width() * number_bytes;
    add({cells * score_flops(config), kept_bytes}, work[Part::scores]);
    add({cells * 4, 0}, work[Part::softmax]);
    add({cells * 2 * a.head_dim, kept_bytes}, work[Part::blend]);
    add(linear({needed, a.q_width(), config.d_model, a.bias_o}, weight_bytes), work[Part::w_o]);
    add(mlp(config, needed, weight_bytes), work[Part::mlp]);
  }
  work[Part::head] = head(config, weight_bytes);
  work[Part::rest] = rest(config, step.count, (config.n_layers - 1) * step.count + 1, weight_bytes);
  return work;
}

Work total(const PerPart<Work>& work) {
  Work sum;
  for (const auto& part : work.values) add(part, sum);
  return sum;
}

}  // namespace qkv
