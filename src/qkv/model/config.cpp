#include "qkv/model/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <set>

#include "qkv/core/error.hpp"
#include "qkv/model/choices.hpp"

namespace qkv {
namespace {

double plain_rate(const RotaryConfig& rotary, std::int64_t pair) {
  return std::pow(rotary.theta, -2.0 * static_cast<double>(pair) / static_cast<double>(rotary.n_rotated));
}

double stretch_llama3(double rate, const RotaryScaling& scaling) {
  const auto wave = 2.0 * std::numbers::pi / rate;
  if (wave < scaling.original_n_ctx / scaling.high_frequency_factor) return rate;
  if (wave > scaling.original_n_ctx / scaling.low_frequency_factor) return rate / scaling.factor;
  const auto keep = (scaling.original_n_ctx / wave - scaling.low_frequency_factor) /
                    (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1.0 - keep) * rate / scaling.factor + keep * rate;
}

/// Which pair makes so many turns within the original context.
double pair_of_turns(const RotaryConfig& rotary, double turns) {
  return static_cast<double>(rotary.n_rotated) *
         std::log(rotary.scaling.original_n_ctx / (turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(rotary.theta));
}

/// Pairs that turn fast keep their rate, slow ones are divided by the factor, with a ramp between.
double stretch_yarn(double rate, const RotaryConfig& rotary, std::int64_t pair) {
  const auto& scaling = rotary.scaling;
  auto fast = pair_of_turns(rotary, scaling.beta_fast);
  auto slow = pair_of_turns(rotary, scaling.beta_slow);
  if (scaling.truncate) {
    fast = std::floor(fast);
    slow = std::ceil(slow);
  }
  fast = std::max(fast, 0.0);
  slow = std::min(slow, static_cast<double>(rotary.n_rotated - 1));
  if (fast == slow) slow += 0.001;
  const auto ramp = std::clamp((static_cast<double>(pair) - fast) / (slow - fast), 0.0, 1.0);
  return rate / scaling.factor * ramp + rate * (1.0 - ramp);
}

double rotary_rate(const RotaryConfig& rotary, std::int64_t pair, bool long_text) {
  const auto rate = plain_rate(rotary, pair);
  const auto& scaling = rotary.scaling;
  switch (scaling.kind) {
    case RotaryScaling::Kind::none:
      return rate;
    case RotaryScaling::Kind::linear:
      return rate / scaling.factor;
    case RotaryScaling::Kind::llama3:
      return stretch_llama3(rate, scaling);
    case RotaryScaling::Kind::yarn:
      return stretch_yarn(rate, rotary, pair);
    case RotaryScaling::Kind::longrope:
      return rate / (long_text ? scaling.long_factors : scaling.short_factors)[static_cast<std::size_t>(pair)];
  }
  return rate;
}

std::string describe_scaling(const RotaryScaling& scaling) {
  switch (scaling.kind) {
    case RotaryScaling::Kind::none:
      return "";
    case RotaryScaling::Kind::linear:
      return fmt::format(", scaling linear by {}", scaling.factor);
    case RotaryScaling::Kind::llama3:
      return fmt::format(", scaling llama3 by {} (low {}, high {}, original context {})", scaling.factor,
                         scaling.low_frequency_factor, scaling.high_frequency_factor, scaling.original_n_ctx);
    case RotaryScaling::Kind::yarn:
      return fmt::format(", scaling yarn by {} (fast {}, slow {}, original context {}, magnitude {:.6g})",
                         scaling.factor, scaling.beta_fast, scaling.beta_slow, scaling.original_n_ctx,
                         scaling.magnitude);
    case RotaryScaling::Kind::longrope:
      return fmt::format(", scaling longrope (original context {}, magnitude {:.6g})", scaling.original_n_ctx,
                         scaling.magnitude);
  }
  return "";
}

std::string describe_rotary(const RotaryConfig& rotary) {
  return fmt::format("rotary, theta {}, first {} numbers of a head, {}{}", rotary.theta, rotary.n_rotated,
                     name_of(rotary.layout), describe_scaling(rotary.scaling));
}

/// "0-2, 4": the layers for which `holds` is true.
template <typename Holds>
std::string layers_where(std::int64_t n_layers, const Holds& holds) {
  std::vector<std::string> runs;
  for (std::int64_t first = 0; first < n_layers; ++first) {
    if (!holds(first)) continue;
    auto last = first;
    while (last + 1 < n_layers && holds(last + 1)) ++last;
    runs.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    first = last;
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

std::string describe_position(const Config& config) {
  const auto& position = config.position;
  if (position.kind == PositionConfig::Kind::alibi)
    return fmt::format("alibi, largest exponent {}{}{}{}", position.alibi.largest_exponent,
                       position.alibi.strength != 1.0 ? fmt::format(", {:g} times", position.alibi.strength) : "",
                       position.alibi.scaled ? ", scaled" : "", position.alibi.rounded ? ", rounded to bf16" : "");
  if (position.kind != PositionConfig::Kind::rotary) return std::string(name_of(position.kind));
  auto text = describe_rotary(position.rotary);
  for (const int index : {1, -1}) {
    const auto layers =
        layers_where(config.n_layers, [&](auto layer) { return position.rotary_index(layer) == index; });
    if (layers.empty()) continue;
    text += fmt::format("; in layers {}: {}", layers, index < 0 ? "none" : describe_rotary(*position.second_rotary));
  }
  return text;
}

std::string describe_norm(const NormConfig& norm) {
  auto text = fmt::format("{}, epsilon {:g}, ", name_of(norm.kind), norm.epsilon);
  text += norm.gain ? fmt::format("{} bias", norm.bias ? "with" : "no") : "nothing learned";
  if (norm.gain_offset != 0.0F) text += fmt::format(", gain offset {:g}", norm.gain_offset);
  return text;
}

std::string describe_norms(const Config& config) {
  std::vector<std::string> places;
  if (config.embedding_norm) places.emplace_back("of the embedding");
  if (config.norm_places.before)
    places.emplace_back(config.norm_places.keeps ? "of the stream before attention and before MLP"
                                                 : "before attention and MLP");
  if (config.norm_places.after) places.emplace_back("of what attention and MLP add");
  if (config.norm_places.stream) places.emplace_back("of the stream after attention and after MLP");
  if (config.final_norm) places.emplace_back("before the head");
  return fmt::format("{}; {}", describe_norm(config.norm), fmt::join(places, ", "));
}

std::string describe_attention(const Config& config) {
  const auto& a = config.attention;
  auto text = fmt::format("{} heads, {} key/value heads, head_dim {}", a.n_heads, a.n_kv_heads, a.head_dim);
  if (a.soft_cap > 0.0) text += fmt::format(", soft cap {:g}", a.soft_cap);
  if (a.clip > 0.0) text += fmt::format(", q k v clipped to {:g}", a.clip);
  if (a.qk_norm.kind != QkNormConfig::Kind::none)
    text += fmt::format(", q and k normed ({}: {})", name_of(a.qk_norm.kind), describe_norm(a.qk_norm.norm));
  std::set<std::int64_t> windows(a.windows.begin(), a.windows.end());
  windows.erase(0);
  for (const auto window : windows)
    text += fmt::format(", window {} in layers {}", window,
                        layers_where(config.n_layers, [&](auto layer) { return a.window_of(layer) == window; }));
  return text;
}

std::string describe_residual(Residual residual) {
  switch (residual) {
    case Residual::sequential:
      return "sequential";
    case Residual::parallel:
      return "parallel, attention and MLP read the same stream, each through its own norm";
    case Residual::parallel_one_norm:
      return "parallel, attention and MLP read the same stream through one norm";
  }
  return "?";
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

std::string describe_linear_inputs(const Config& config) {
  return config.linear_input_group == 0
             ? "numbers as they are"
             : fmt::format("numbers rounded to bytes, in groups of {}", config.linear_input_group);
}

template <typename Refuse>
void check_rotary(const RotaryConfig& rotary, std::int64_t head_dim, const Refuse& refuse) {
  if (rotary.n_rotated < 2 || rotary.n_rotated % 2 != 0 || rotary.n_rotated > head_dim)
    refuse(fmt::format("expected an even number of rotated numbers, 2 to head_dim {}, found {}", head_dim,
                       rotary.n_rotated));
  if (rotary.scaling.kind != RotaryScaling::Kind::longrope) return;
  const auto pairs = static_cast<std::size_t>(rotary.n_rotated / 2);
  for (const auto* factors : {&rotary.scaling.short_factors, &rotary.scaling.long_factors})
    if (factors->size() != pairs)
      refuse(fmt::format("expected a longrope factor for each of {} pairs, found {}", pairs, factors->size()));
}

template <typename PerLayer, typename Refuse>
void check_layers(const PerLayer& values, std::int64_t n_layers, const char* what, const Refuse& refuse) {
  if (!values.empty() && static_cast<std::int64_t>(values.size()) != n_layers)
    refuse(fmt::format("expected {} for each of {} layers, found {}", what, n_layers, values.size()));
}

}  // namespace

std::int64_t Config::parameter_count() const {
  const auto norm_numbers = [](const NormConfig& one, std::int64_t width) {
    return one.gain ? width * (one.bias ? 2 : 1) : 0;
  };
  const auto norm_size = norm_numbers(norm, d_model);
  const auto block_norms = (norm_places.before ? (residual == Residual::parallel_one_norm ? 1 : 2) : 0) +
                           (norm_places.after ? 2 : 0) + (norm_places.stream ? 2 : 0);
  const auto q = attention.q_width();
  const auto kv = attention.kv_width();
  const auto& qk = attention.qk_norm;
  const auto qk_width = qk.kind == QkNormConfig::Kind::none   ? 0
                        : qk.kind == QkNormConfig::Kind::head ? 2 * attention.head_dim
                                                              : q + kv;
  const auto attention_size = 2 * q * d_model + 2 * kv * d_model + (attention.bias_q ? q : 0) +
                              (attention.bias_k ? kv : 0) + (attention.bias_v ? kv : 0) +
                              (attention.bias_o ? d_model : 0) + norm_numbers(qk.norm, qk_width);
  const auto inner = mlp.d_ff * (mlp.gated ? 2 : 1);
  const auto mlp_size = (inner + mlp.d_ff) * d_model + (mlp.bias_in ? inner : 0) + (mlp.bias_out ? d_model : 0);
  const auto embedding_size = n_vocab * token_width() +
                              (position.kind == PositionConfig::Kind::learned ? n_ctx * d_model : 0) +
                              (embedding_norm ? norm_size : 0) + 2 * embedding_width * d_model;
  const auto head_size = (head.tied ? 0 : n_vocab * token_width()) + (head.bias ? n_vocab : 0);
  return embedding_size + n_layers * (attention_size + mlp_size + block_norms * norm_size) +
         (final_norm ? norm_size : 0) + head_size;
}

std::vector<double> rotary_rates(const RotaryConfig& rotary, bool long_text) {
  std::vector<double> rates;
  for (std::int64_t pair = 0; 2 * pair < rotary.n_rotated; ++pair)
    rates.push_back(rotary_rate(rotary, pair, long_text));
  return rates;
}

std::vector<float> alibi_slopes(const AlibiConfig& alibi, std::int64_t n_heads) {
  // The largest power of two of heads shares the exponents evenly; those left over take the odd ones of twice as many.
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n_heads)));
  std::vector<float> slopes;
  for (std::int64_t head = 0; head < n_heads; ++head) {
    const auto step = head < whole ? static_cast<double>(head + 1) / static_cast<double>(whole)
                                   : static_cast<double>(2 * (head - whole) + 1) / static_cast<double>(2 * whole);
    slopes.push_back(static_cast<float>(std::exp2(-alibi.largest_exponent * step)));
  }
  return slopes;
}

void check_config(const Config& config, const std::string& where) {
  const auto refuse = [&](const std::string& message) {
    throw Error(ErrorCode::model, fmt::format("{}: {}", where, message));
  };
  const auto& attention = config.attention;
  if (attention.n_heads % attention.n_kv_heads != 0)
    refuse(fmt::format("expected heads in equal groups, found {} heads for {} key/value heads", attention.n_heads,
                       attention.n_kv_heads));
  if (config.position.kind == PositionConfig::Kind::rotary) {
    check_rotary(config.position.rotary, attention.head_dim, refuse);
    if (config.position.second_rotary) check_rotary(*config.position.second_rotary, attention.head_dim, refuse);
    check_layers(config.position.rotary_of_layer, config.n_layers, "rotary positions", refuse);
    for (const auto index : config.position.rotary_of_layer)
      if (index < -1 || index > (config.position.second_rotary ? 1 : 0))
        refuse(fmt::format("expected each layer's rotary positions to be given, found none numbered {}", index));
  }
  check_layers(attention.windows, config.n_layers, "windows", refuse);
  for (const auto window : attention.windows)
    if (window < 0) refuse(fmt::format("expected windows of 0 or more keys, found {}", window));
  const auto& places = config.norm_places;
  if (config.residual != Residual::sequential && (!places.before || places.after || places.stream || places.keeps))
    refuse("expected norms before both halves of a parallel block and nowhere else, found others");
  if (places.keeps && !places.before)
    refuse("expected a norm before each half where the stream becomes it, found none");
  // Every matrix is at most widest x longest; with both below 2^30 no product of two widths leaves 64 bits.
  constexpr std::int64_t widest = std::int64_t{1} << 30U;
  if (attention.n_heads > widest / attention.head_dim || config.mlp.d_ff > widest / 2 ||
      config.embedding_width > widest / 2)
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
          {"position", describe_position(config)},
          {"norm", describe_norms(config)},
          {"attention", describe_attention(config)},
          {"attention scale", fmt::format("{:.9g}{}", a.scale, a.scale_divided_by_layer ? " / (layer + 1)" : "")},
          {"MLP", fmt::format("{}, {}, d_ff {}", config.mlp.gated ? "gated" : "plain", name_of(config.mlp.activation),
                              config.mlp.d_ff)},
          {"residual", describe_residual(config.residual)},
          {"residual scale", fmt::format("{:g}", config.residual_scale)},
          {"biases", describe_biases(config)},
          {"head", fmt::format("{}{}", config.head.tied ? "tied to the token embedding" : "its own matrix",
                               config.head.soft_cap > 0.0 ? fmt::format(", soft cap {:g}", config.head.soft_cap) : "")},
          {"embedding width", fmt::format("{}", config.token_width())},
          {"embedding scale", fmt::format("{:g}", config.embedding_scale)},
          {"logit scale", fmt::format("{:g}", config.logit_scale)},
          {"matrices read", describe_linear_inputs(config)},
          {"begin token", config.bos ? fmt::format("{}", *config.bos) : "none"},
          {"end tokens", config.eos.empty() ? "none" : fmt::format("{}", fmt::join(config.eos, ", "))}};
}

}  // namespace qkv
