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
};

/// How the rates of a rotary table are stretched for texts longer than the model first saw.
struct RotaryScaling {
  enum class Kind { none, linear, llama3 };
  Kind kind = Kind::none;
  double factor = 1.0;
  double low_frequency_factor = 1.0;   // llama3
  double high_frequency_factor = 1.0;  // llama3
  double original_n_ctx = 1.0;         // llama3
};

struct RotaryConfig {
  double theta = 10000.0;
  std::int64_t n_rotated = 0;  // the first numbers of a head that are turned, even
  ops::RotaryLayout layout = ops::RotaryLayout::halves;
  RotaryScaling scaling;
};

struct PositionConfig {
  enum class Kind { none, learned, rotary };
  Kind kind = Kind::none;
  RotaryConfig rotary;  // only for Kind::rotary
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
};

struct Config {
  std::string family;  // who reads it, for people
  std::string name;

  std::int64_t n_layers = 0;
  std::int64_t d_model = 0;
  std::int64_t n_vocab = 0;
  std::int64_t n_ctx = 0;

  PositionConfig position;
  NormConfig norm;  // before the attention, before the MLP, and before the head
  AttentionConfig attention;
  MlpConfig mlp;
  HeadConfig head;
  double embedding_scale = 1.0;
  double logit_scale = 1.0;

  std::optional<TokenId> bos;
  std::vector<TokenId> eos;

  /// How many learned numbers there are, once the weights were found to fit.
  [[nodiscard]] std::int64_t parameter_count() const;
};

/// Angle per position for each turned pair, [n_rotated / 2], in radians: theta^(-2i/n), then the scaling. "llama3" is
/// the rule published with Llama 3.1: long waves are stretched by the factor, short ones kept, blended in between.
[[nodiscard]] std::vector<double> rotary_rates(const RotaryConfig& rotary);

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
