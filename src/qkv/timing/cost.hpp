#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "qkv/model/config.hpp"

namespace qkv {

/// The parts of a forward pass that are timed and counted, in the order of the pass.
enum class Part {
  norms,    // of both halves of each block, and the last one
  qkv,      // W_q, W_k, W_v, norms of queries and keys, and rotary positions
  scores,   // q kT / sqrt(head_dim), linear biases, and the soft cap
  softmax,  // scores to weights
  blend,    // weights v
  w_o,      // W_o
  mlp,      // W_in, W_gate, the activation, W_out
  head,     // logits of the last position, and their soft cap
  rest,     // embedding, positions, additions to the residual stream
};
inline constexpr std::array all_parts{Part::norms, Part::qkv, Part::scores, Part::softmax, Part::blend,
                                      Part::w_o,   Part::mlp, Part::head,   Part::rest};

/// "W_q W_k W_v"
[[nodiscard]] std::string_view name_of(Part part);

/// One number for each part.
template <typename T>
struct PerPart {
  std::array<T, all_parts.size()> values{};
  [[nodiscard]] T& operator[](Part part) { return values[static_cast<std::size_t>(part)]; }
  [[nodiscard]] const T& operator[](Part part) const { return values[static_cast<std::size_t>(part)]; }
};

struct Work {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
};

/// A step of either loop: `count` new tokens after `past` kept ones, logits of the last one.
struct Step {
  std::int64_t past = 0;
  std::int64_t count = 0;
};

/// What a step needs, counted from the sizes alone; it says nothing of how well it is done. In the last block all
/// but the keys and values is needed for the last token only.
///
/// FLOPs: additions, subtractions, multiplications, divisions, exponentials, tanh and error functions, one each, for
/// every number they make; comparisons (so clipping too), and what is done once a row, are left out. So a product of
/// [T, in] with [in, out] is 2 T in out, and its bias T out more; a layer norm 5 a number (sum, subtract, square, sum,
/// scale), an RMS norm 3, a gain and a bias 1 each; a cell of scores 2 K + 1, its linear bias 2 more (slope times
/// distance, added), of softmax 4, of blend 2 K, where only cells that a query may see are counted; a soft cap 3 a
/// number; rotary positions 6 a pair.
///
/// Bytes: what must come from memory or go there: every learned number once (linear weights at `weight_bytes` each, all
/// else f32), the embedding rows of the new tokens, kept keys and values once, new ones once. Numbers passed from one
/// operation to the next can stay in a cache and are not counted.
[[nodiscard]] PerPart<Work> count_work(const Config& config, const Step& step, std::int64_t weight_bytes = 4);

[[nodiscard]] Work total(const PerPart<Work>& work);

}  // namespace qkv
