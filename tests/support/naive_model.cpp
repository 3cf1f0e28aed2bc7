#include "support/naive_model.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <string>

namespace qkv::test {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

class Naive {
 public:
  Naive(const Config& config, const TinyModel& model) : config_(config), model_(model) {}

  [[nodiscard]] Rows run(std::span<const TokenId> ids) const {
    Rows x;
    for (std::size_t t = 0; t < ids.size(); ++t) x.push_back(embed(ids[t], t));
    for (std::int64_t layer = 0; layer < config_.n_layers; ++layer) run_block(layer, x);
    Rows logits;
    for (const auto& row : x) logits.push_back(head(row));
    return logits;
  }

 private:
  [[nodiscard]] Row numbers(const std::string& name) const {
    const auto floats = model_.numbers(name);
    return {floats.begin(), floats.end()};
  }

  /// Row i of a matrix with `width` columns.
  [[nodiscard]] Row matrix_row(const std::string& name, std::size_t i) const {
    const auto all = numbers(name);
    const auto width = static_cast<std::size_t>(config_.d_model);
    Row row;
    for (std::size_t c = 0; c < width; ++c) row.push_back(all[i * width + c]);
    return row;
  }

  [[nodiscard]] Row embed(TokenId id, std::size_t t) const {
    auto x = matrix_row("embedding.tokens", static_cast<std::size_t>(id));
    for (auto& number : x) number *= config_.embedding_scale;
    if (config_.position.kind != PositionConfig::Kind::learned) return x;
    const auto position = matrix_row("embedding.positions", t);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += position[i];
    return x;
  }

  /// W x + b; W is [out, in], the number of outputs follows from its size.
  [[nodiscard]] Row linear(const Row& x, const std::string& weight, const std::string& bias, bool has_bias) const {
    const auto matrix = numbers(weight);
    Row y(matrix.size() / x.size(), 0.0);
    if (has_bias) y = numbers(bias);
    for (std::size_t o = 0; o < y.size(); ++o)
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += matrix[o * x.size() + i] * x[i];
    return y;
  }

  [[nodiscard]] Row norm(const Row& x, const std::string& name) const {
    const auto n = static_cast<double>(x.size());
    double mean = 0.0;
    if (config_.norm.kind == NormConfig::Kind::layer)
      for (const auto number : x) mean += number / n;
    double square = 0.0;
    for (const auto number : x) square += (number - mean) * (number - mean) / n;
    const auto gain = numbers(name + ".gain");
    const auto bias = config_.norm.bias ? numbers(name + ".bias") : Row(x.size(), 0.0);
    Row y;
    for (std::size_t i = 0; i < x.size(); ++i)
      y.push_back((x[i] - mean) / std::sqrt(square + static_cast<double>(config_.norm.epsilon)) * gain[i] + bias[i]);
    return y;
  }

  /// Each pair of numbers is a point in the plane, turned by its angle.
  void rotate(Row& heads, std::size_t position) const {
    if (config_.position.kind != PositionConfig::Kind::rotary) return;
    const auto& rotary = config_.position.rotary;
    const auto turned = static_cast<std::size_t>(rotary.n_rotated);
    const auto head_dim = static_cast<std::size_t>(config_.attention.head_dim);
    const auto stretch = rotary.scaling.kind == RotaryScaling::Kind::linear ? rotary.scaling.factor : 1.0;
    for (std::size_t start = 0; start < heads.size(); start += head_dim)
      for (std::size_t i = 0; i < turned / 2; ++i) {
        const bool halves = rotary.layout == ops::RotaryLayout::halves;
        auto& a = heads[start + (halves ? i : 2 * i)];
        auto& b = heads[start + (halves ? i + turned / 2 : 2 * i + 1)];
        const auto angle = static_cast<double>(position) / stretch /
                           std::pow(rotary.theta, 2.0 * static_cast<double>(i) / static_cast<double>(turned));
        const auto point = std::complex<double>(a, b) * std::polar(1.0, angle);
        a = point.real();
        b = point.imag();
      }
  }

  /// One query of one head over the keys 0 .. t: adds its part to `out`.
  void attend(const Row& q, const Rows& k, const Rows& v, std::size_t t, std::int64_t h, double scale, Row& out) const {
    const auto& a = config_.attention;
    const auto q_from = static_cast<std::size_t>(h * a.head_dim);
    const auto kv_from = static_cast<std::size_t>(h * a.n_kv_heads / a.n_heads * a.head_dim);
    const auto width = static_cast<std::size_t>(a.head_dim);
    Row weights;
    double sum = 0.0;
    for (std::size_t s = 0; s <= t; ++s) {
      double dot = 0.0;
      for (std::size_t i = 0; i < width; ++i) dot += q[q_from + i] * k[s][kv_from + i];
      weights.push_back(std::exp(scale * dot));
      sum += weights.back();
    }
    for (std::size_t s = 0; s <= t; ++s)
      for (std::size_t i = 0; i < width; ++i) out[q_from + i] += weights[s] / sum * v[s][kv_from + i];
  }

  void run_block(std::int64_t layer, Rows& x) const {
    const auto block = "blocks." + std::to_string(layer) + ".";
    const auto attn = block + "attn.";
    const auto& a = config_.attention;
    const auto scale = a.scale_divided_by_layer ? a.scale / static_cast<double>(layer + 1) : a.scale;
    Rows k;
    Rows v;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const auto normed = norm(x[t], block + "attn_norm");
      auto q = linear(normed, attn + "W_q", attn + "b_q", a.bias_q);
      k.push_back(linear(normed, attn + "W_k", attn + "b_k", a.bias_k));
      v.push_back(linear(normed, attn + "W_v", attn + "b_v", a.bias_v));
      rotate(q, t);
      rotate(k.back(), t);
      Row heads(q.size(), 0.0);
      for (std::int64_t h = 0; h < a.n_heads; ++h) attend(q, k, v, t, h, scale, heads);
      add(x[t], linear(heads, attn + "W_o", attn + "b_o", a.bias_o), config_.residual_scale);
      add(x[t], mlp(norm(x[t], block + "mlp_norm"), block + "mlp."), config_.residual_scale);
    }
  }

  [[nodiscard]] Row mlp(const Row& x, const std::string& name) const {
    const auto& mlp = config_.mlp;
    auto inner = linear(x, name + "W_in", name + "b_in", mlp.bias_in);
    const auto gate = mlp.gated ? linear(x, name + "W_gate", name + "b_gate", mlp.bias_in) : inner;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const auto shaped = naive_activation(mlp.activation, gate[i]);
      inner[i] = mlp.gated ? shaped * inner[i] : shaped;
    }
    return linear(inner, name + "W_out", name + "b_out", mlp.bias_out);
  }

  [[nodiscard]] Row head(const Row& x) const {
    auto logits =
        linear(norm(x, "final_norm"), config_.head.tied ? "embedding.tokens" : "head.W", "head.b", config_.head.bias);
    for (auto& logit : logits) logit *= config_.logit_scale;
    return logits;
  }

  static void add(Row& x, const Row& more, double scale) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += scale * more[i];
  }

  const Config& config_;
  const TinyModel& model_;
};

}  // namespace

double naive_activation(ops::Activation activation, double x) {
  switch (activation) {
    case ops::Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case ops::Activation::gelu_erf:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case ops::Activation::silu:
      return x / (1.0 + std::exp(-x));
    case ops::Activation::relu:
      return std::max(x, 0.0);
  }
  return std::nan("");
}

std::vector<float> naive_logits(const Config& config, const TinyModel& model, std::span<const TokenId> ids) {
  std::vector<float> logits;
  for (const auto& row : Naive(config, model).run(ids))
    for (const auto logit : row) logits.push_back(static_cast<float>(logit));
  return logits;
}

}  // namespace qkv::test
