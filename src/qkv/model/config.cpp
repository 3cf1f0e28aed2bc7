#include "qkv/model/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

#include "qkv/core/error.hpp"
#include "qkv/model/choices.hpp"

namespace qkv {
namespace {

double stretch(double rate, const RotaryScaling& scaling) {
  if (scaling.kind == RotaryScaling::Kind::none) return rate;
  if (scaling.kind == RotaryScaling::Kind::linear) return rate / scaling.factor;
  const auto wave = 2.0 * std::numbers::pi / rate;
  if (wave < scaling.original_n_ctx / scaling.high_frequency_factor) return rate;
  if (wave > scaling.original_n_ctx / scaling.low_frequency_factor) return rate / scaling.factor;
  const auto keep = (scaling.original_n_ctx / wave - scaling.low_frequency_factor) /
                    (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1.0 - keep) * rate / scaling.factor + keep * rate;
}

std::string describe_position(const PositionConfig& position) {
  if (position.kind != PositionConfig::Kind::rotary) return std::string(name_of(position.kind));
  const auto& rotary = position.rotary;
  auto text = fmt::format("rotary, theta {}, first {} numbers of a head, {}", rotary.theta, rotary.n_rotated,
                          name_of(rotary.layout));
  if (rotary.scaling.kind != RotaryScaling::Kind::none)
    text += fmt::format(", scaling {} by {}", name_of(rotary.scaling.kind), rotary.scaling.factor);
  if (rotary.scaling.kind == RotaryScaling::Kind::llama3)
    text += fmt::format(" (low {}, high {}, original context {})", rotary.scaling.low_frequency_factor,
                        rotary.scaling.high_frequency_factor, rotary.scaling.original_n_ctx);
  return text;
}

std::string describe_biases(const Config& config) {
  std::vector<std::string> with;
  const auto& a = config.attention;
  if (a.bias_q) with.emplace_back("W_q");
  if (a.bias_k) with.emplace_back("W_k");
  if (a.bias_v) with.emplace_back("W_v");
  if (a.bias_o) with.emplace_back("W_o");
  if (config.mlp.bias_in) with.emplace_back(config.mlp.gated ? "W_in W_gate" : "W_in");
  if (config.mlp.bias_out) with.emplace_back("W_out");
  if (config.head.bias) with.emplace_back("head");
  return with.empty() ? "none" : fmt::format("{}", fmt::join(with, " "));
}

}  // namespace

std::int64_t Config::parameter_count() const {
  const auto norm_size = d_model * (norm.bias ? 2 : 1);
  const auto q = attention.q_width();
  const auto kv = attention.kv_width();
  const auto attention_size = 2 * q * d_model + 2 * kv * d_model + (attention.bias_q ? q : 0) +
                              (attention.bias_k ? kv : 0) + (attention.bias_v ? kv : 0) +
                              (attention.bias_o ? d_model : 0);
  const auto inner = mlp.d_ff * (mlp.gated ? 2 : 1);
  const auto mlp_size = (inner + mlp.d_ff) * d_model + (mlp.bias_in ? inner : 0) + (mlp.bias_out ? d_model : 0);
  const auto embedding_size =
      n_vocab * d_model + (position.kind == PositionConfig::Kind::learned ? n_ctx * d_model : 0);
  const auto head_size = (head.tied ? 0 : n_vocab * d_model) + (head.bias ? n_vocab : 0);
  return embedding_size + n_layers * (attention_size + mlp_size + 2 * norm_size) + norm_size + head_size;
}

std::vector<double> rotary_rates(const RotaryConfig& rotary) {
  std::vector<double> rates;
  for (std::int64_t i = 0; i < rotary.n_rotated; i += 2)
    rates.push_back(stretch(std::pow(rotary.theta, -static_cast<double>(i) / static_cast<double>(rotary.n_rotated)),
                            rotary.scaling));
  return rates;
}

void check_config(const Config& config, const std::string& where) {
  const auto refuse = [&](const std::string& message) {
    throw Error(ErrorCode::model, fmt::format("{}: {}", where, message));
  };
  const auto& attention = config.attention;
  if (attention.n_heads % attention.n_kv_heads != 0)
    refuse(fmt::format("expected heads in equal groups, found {} heads for {} key/value heads", attention.n_heads,
                       attention.n_kv_heads));
  const auto& rotary = config.position.rotary;
  if (config.position.kind == PositionConfig::Kind::rotary &&
      (rotary.n_rotated < 2 || rotary.n_rotated % 2 != 0 || rotary.n_rotated > attention.head_dim))
    refuse(fmt::format("expected an even number of rotated numbers, 2 to head_dim {}, found {}", attention.head_dim,
                       rotary.n_rotated));
  // Every matrix is at most widest x longest; with both below 2^30 no product of two widths leaves 64 bits.
  constexpr std::int64_t widest = std::int64_t{1} << 30U;
  if (attention.n_heads > widest / attention.head_dim || config.mlp.d_ff > widest / 2)
    refuse(fmt::format("expected widths below 2^30, found {} heads of {} and d_ff {}", attention.n_heads,
                       attention.head_dim, config.mlp.d_ff));
}

std::vector<ConfigLine> describe(const Config& config) {
  const auto& a = config.attention;
  return {{"family", config.family},
          {"layers", fmt::format("{}", config.n_layers)},
          {"d_model", fmt::format("{}", config.d_model)},
          {"vocabulary", fmt::format("{}", config.n_vocab)},
          {"context", fmt::format("{}", config.n_ctx)},
          {"position", describe_position(config.position)},
          {"norm", fmt::format("{}, epsilon {:g}, {} bias, before attention, MLP and head", name_of(config.norm.kind),
                               config.norm.epsilon, config.norm.bias ? "with" : "no")},
          {"attention", fmt::format("{} heads, {} key/value heads, head_dim {}", a.n_heads, a.n_kv_heads, a.head_dim)},
          {"attention scale", fmt::format("{:.9g}{}", a.scale, a.scale_divided_by_layer ? " / (layer + 1)" : "")},
          {"MLP", fmt::format("{}, {}, d_ff {}", config.mlp.gated ? "gated" : "plain", name_of(config.mlp.activation),
                              config.mlp.d_ff)},
          {"residual", "sequential"},
          {"biases", describe_biases(config)},
          {"head", config.head.tied ? "tied to the token embedding" : "its own matrix"},
          {"embedding scale", fmt::format("{:g}", config.embedding_scale)},
          {"logit scale", fmt::format("{:g}", config.logit_scale)},
          {"begin token", config.bos ? fmt::format("{}", *config.bos) : "none"},
          {"end tokens", config.eos.empty() ? "none" : fmt::format("{}", fmt::join(config.eos, ", "))}};
}

}  // namespace qkv
