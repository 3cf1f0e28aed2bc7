#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/ops/activation.hpp"
#include "qkv/ops/rotary.hpp"

namespace qkv {

/// What a block computes, never who published it. A family file maps a published config.json to this.

struct NormConfig {
  enum class Kind { layer, rms };
  Kind kind = Kind::layer;
  float epsilon = 1e-5F;
  bool bias = true;
  bool gain = true;          // false: nothing is learned
  float gain_offset = 0.0F;  // the gain is what is stored and this
};

/// Where a block norms, the same for its two halves. At least one of them.
struct NormPlaces {
  bool before = true;   // what a half reads
  bool after = false;   // what a half adds to the stream
  bool stream = false;  // the stream, after a half was added to it
  bool keeps = false;   // with `before`: what a half reads becomes the stream, to which the half is then added
};

/// Whether the MLP reads the stream after the attention was added to it, or before, and then through a norm of its own
/// or through the one that the attention reads through.
enum class Residual { sequential, parallel, parallel_one_norm };

/// How the rates of a rotary table are stretched for texts longer than the model first saw.
struct RotaryScaling {
  enum class Kind { none, linear, llama3, yarn, longrope };
  Kind kind = Kind::none;
  double factor = 1.0;                 // linear, llama3, yarn
  double low_frequency_factor = 1.0;   // llama3
  double high_frequency_factor = 1.0;  // llama3
  double original_n_ctx = 1.0;         // llama3, yarn, longrope: the context that the model first saw
  double beta_fast = 32.0;             // yarn: turns in that context from which on a rate is kept,
  double beta_slow = 1.0;              // and up to which it is divided by the factor
  bool truncate = true;                // yarn: the two bounds between are whole pairs
  std::vector<double> short_factors;   // longrope, [n_rotated / 2]: divide the rates of texts of up to that context,
  std::vector<double> long_factors;    // and those of longer ones
  double magnitude = 1.0;              // yarn, longrope: cosines and sines are multiplied by it
};

struct RotaryConfig {
  double theta = 10000.0;
  std::int64_t n_rotated = 0;  // the first numbers of a head that are turned, even
  ops::RotaryLayout layout = ops::RotaryLayout::halves;
  RotaryScaling scaling;
};

/// Scores fall with the distance, by a slope for each head. Press, Smith and Lewis, "Train Short, Test Long", 2022.
struct AlibiConfig {
  double largest_exponent = 8.0;  // slopes are 2^(-largest_exponent h / n_heads), h = 1 .. n_heads
  double strength = 1.0;          // how many times it is added
  bool scaled = false;            // the attention's scale applies to it too
  bool rounded = false;           // slopes, key positions and their products are rounded to bf16
};

struct PositionConfig {
  enum class Kind { none, learned, rotary, alibi };
  Kind kind = Kind::none;
  RotaryConfig rotary;                        // only for Kind::rotary
  std::optional<RotaryConfig> second_rotary;  // of some layers
  std::vector<int> rotary_of_layer;           // 0: rotary, 1: second_rotary, -1: none; empty: 0 everywhere
  AlibiConfig alibi;                          // only for Kind::alibi

  [[nodiscard]] int rotary_index(std::int64_t layer) const {
    if (kind != Kind::rotary) return -1;
    return rotary_of_layer.empty() ? 0 : rotary_of_layer[static_cast<std::size_t>(layer)];
  }
};

/// A norm of queries and of keys, before rotary positions.
struct QkNormConfig {
  enum class Kind {
    none,
    head,      // each head by itself, one gain [K] for all of them
    own_head,  // each head by itself, a gain for each [H, K]
    whole,     // all heads together, [H K]
  };
  Kind kind = Kind::none;
  NormConfig norm;
};

struct AttentionConfig {
  std::int64_t n_heads = 0;
  std::int64_t n_kv_heads = 0;  // n_heads is a multiple of it: each key/value head serves n_heads / n_kv_heads heads
  std::int64_t head_dim = 0;
  double scale = 0.0;                   // scores = scale * q kT
  bool scale_divided_by_layer = false;  // block i (from 0) divides the scale by i + 1 too
  bool bias_q = false;
  bool bias_k = false;
  bool bias_v = false;
  bool bias_o = false;
  std::vector<std::int64_t>
      windows;            // per layer: how many keys a query sees, its own included; 0: all; empty: 0 everywhere
  double soft_cap = 0.0;  // scores become cap tanh(score / cap); 0: none
  double clip = 0.0;      // q, k and v are held within +-clip; 0: none
  QkNormConfig qk_norm;

  [[nodiscard]] std::int64_t window_of(std::int64_t layer) const {
    return windows.empty() ? 0 : windows[static_cast<std::size_t>(layer)];
  }
  [[nodiscard]] std::int64_t q_width() const { return n_heads * head_dim; }
  [[nodiscard]] std::int64_t kv_width() const { return n_kv_heads * head_dim; }
  [[nodiscard]] float scale_of(std::int64_t layer) const {
    return static_cast<float>(scale_divided_by_layer ? scale / static_cast<double>(layer + 1) : scale);
  }
};

struct MlpConfig {
  bool gated = false;  // activation(x W_gate) * (x W_in) instead of activation(x W_in)
  ops::Activation activation = ops::Activation::gelu_tanh;
  std::int64_t d_ff = 0;
  bool bias_in = false;  // of W_in, and of W_gate
  bool bias_out = false;
};

struct HeadConfig {
  bool tied = false;  // the token embedding, used again
  bool bias = false;
  double soft_cap = 0.0;  // logits become cap tanh(logit / cap); 0: none
};

struct Config {
  std::string family;  // who reads it, for people
  std::string name;

  std::int64_t n_layers = 0;
  std::int64_t d_model = 0;
  std::int64_t n_vocab = 0;
  std::int64_t n_ctx = 0;

  PositionConfig position;
  std::int64_t embedding_width =
      0;                        // of a token's row, where it is not d_model: two maps lead from it and back; else 0
  bool embedding_norm = false;  // of the embedding, before the first block
  NormConfig norm;              // of blocks, of the embedding, and before the head
  NormPlaces norm_places;
  bool final_norm = true;  // before the head
  Residual residual = Residual::sequential;
  AttentionConfig attention;
  MlpConfig mlp;
  HeadConfig head;
  double embedding_scale = 1.0;
  double residual_scale = 1.0;  // of what each half of a block adds to the stream, after its norm if it has one
  double logit_scale = 1.0;
  std::int64_t linear_input_group = 0;  // learned matrices read bytes, in groups of so many with a scale; 0: numbers

  std::optional<TokenId> bos;
  std::vector<TokenId> eos;

  /// [V, E]: what a row of the token embedding, and of the head, is wide.
  [[nodiscard]] std::int64_t token_width() const { return embedding_width > 0 ? embedding_width : d_model; }

  /// How many learned numbers there are, once the weights were found to fit.
  [[nodiscard]] std::int64_t parameter_count() const;
};

/// Angle per position for each turned pair, [n_rotated / 2], in radians: theta^(-2i/n), then the scaling. "llama3" is
/// the rule published with Llama 3.1: long waves are stretched by the factor, short ones kept, blended in between.
/// "yarn": the same with a ramp over the pairs (Peng et al., 2023). "longrope" (Ding et al., 2024): a factor for each
/// pair, which depends on whether the text is longer than the original context.
[[nodiscard]] std::vector<double> rotary_rates(const RotaryConfig& rotary, bool long_text = false);

/// How fast the scores of each head fall with the distance, [n_heads].
[[nodiscard]] std::vector<float> alibi_slopes(const AlibiConfig& alibi, std::int64_t n_heads);

/// Checks what no single key can show: heads that do not divide, an odd number of turned numbers, sizes whose products
/// overflow. Throws Error{model} that begins with `where`.
void check_config(const Config& config, const std::string& where);

/// One line for each choice, for people: {"norm", "layer, epsilon 1e-05"}.
struct ConfigLine {
  std::string what;
  std::string value;
};
[[nodiscard]] std::vector<ConfigLine> describe(const Config& config);

}  // namespace qkv
