#include "qkv/model/config_keys.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace qkv {
namespace {

constexpr std::array<std::pair<std::string_view, ops::Activation>, 8> published_activations{
    {{"gelu_new", ops::Activation::gelu_tanh},
     {"gelu_pytorch_tanh", ops::Activation::gelu_tanh},
     {"gelu_fast", ops::Activation::gelu_tanh},
     {"gelu_python", ops::Activation::gelu_erf},
     {"gelu", ops::Activation::gelu_erf},
     {"silu", ops::Activation::silu},
     {"swish", ops::Activation::silu},
     {"relu", ops::Activation::relu}}};

/// The kind of scaling: `rope_type`, or `type` in older files.
std::string scaling_type(const JsonReader& scaling) {
  const auto type = scaling.text_or("type", "default");  // both are read, so that neither counts as unknown
  return scaling.text_or("rope_type", type);
}

/// The context that a scaling refers to: the config's key, else its own, else the whole context.
double original_context(const JsonReader& scaling, const RotaryKeys& keys) {
  const auto own = scaling.integer_or("original_max_position_embeddings", keys.n_ctx, context_range);
  return static_cast<double>(keys.original_n_ctx > 0 ? keys.original_n_ctx : own);
}

/// By how much the context has grown: `factor`, else what the two contexts say.
double growth(const JsonReader& scaling, const RotaryKeys& keys, double original_n_ctx) {
  return scaling.number_or("factor", static_cast<double>(keys.n_ctx) / original_n_ctx, factor_range);
}

RotaryScaling read_llama3(const JsonReader& scaling, const RotaryKeys& keys) {
  RotaryScaling result;
  result.kind = RotaryScaling::Kind::llama3;
  result.factor = scaling.number("factor", factor_range);
  result.low_frequency_factor = scaling.number("low_freq_factor", factor_range);
  result.high_frequency_factor = scaling.number("high_freq_factor", factor_range);
  if (result.high_frequency_factor <= result.low_frequency_factor)
    scaling.fail("high_freq_factor", fmt::format("more than low_freq_factor {}", result.low_frequency_factor));
  result.original_n_ctx = original_context(scaling, keys);
  return result;
}

/// 0.1 m ln(factor) + 1, by which YaRN strengthens attention; Peng et al., 2023, equation 22.
double yarn_magnitude(double factor, double m) { return factor <= 1.0 ? 1.0 : 0.1 * m * std::log(factor) + 1.0; }

RotaryScaling read_yarn(const JsonReader& scaling, const RotaryKeys& keys) {
  RotaryScaling result;
  result.kind = RotaryScaling::Kind::yarn;
  result.original_n_ctx = original_context(scaling, keys);
  result.factor = growth(scaling, keys, result.original_n_ctx);
  result.beta_fast = scaling.number_or("beta_fast", 32.0, factor_range);
  result.beta_slow = scaling.number_or("beta_slow", 1.0, factor_range);
  result.truncate = scaling.boolean_or("truncate", true);
  const auto m = scaling.number_or("mscale", 0.0, {0.0, 1e3});
  const auto m_all = scaling.number_or("mscale_all_dim", 0.0, {0.0, 1e3});
  const auto usual = m > 0.0 && m_all > 0.0 ? yarn_magnitude(result.factor, m) / yarn_magnitude(result.factor, m_all)
                                            : yarn_magnitude(result.factor, 1.0);
  result.magnitude = scaling.number_or("attention_factor", usual, factor_range);
  return result;
}

/// Cut off to a whole number, as the publishers do.
std::int64_t rotated_part(std::int64_t head_dim, double share) {
  return static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
}

std::vector<double> read_factors(const JsonReader& scaling, std::string_view key) {
  std::vector<double> factors;
  const auto& list = scaling.raw(key);
  if (!list.is_array()) scaling.fail(key, "an array of numbers");
  for (const auto& factor : list) {
    const auto number = factor.is_number() ? factor.get<double>() : 0.0;
    if (number < factor_range.min || number > factor_range.max)
      scaling.fail(key, fmt::format("an array of numbers from {} to {}", factor_range.min, factor_range.max));
    factors.push_back(number);
  }
  return factors;
}

RotaryScaling read_longrope(const JsonReader& scaling, const RotaryKeys& keys) {
  RotaryScaling result;
  result.kind = RotaryScaling::Kind::longrope;
  result.short_factors = read_factors(scaling, "short_factor");
  result.long_factors = read_factors(scaling, "long_factor");
  result.original_n_ctx = original_context(scaling, keys);
  const auto factor = growth(scaling, keys, result.original_n_ctx);
  const auto usual = factor <= 1.0 || result.original_n_ctx <= 1.0
                         ? 1.0
                         : std::sqrt(1.0 + std::log(factor) / std::log(result.original_n_ctx));
  result.magnitude = scaling.number_or("attention_factor", usual, factor_range);
  return result;
}

RotaryScaling read_scaling(const JsonReader& scaling, const RotaryKeys& keys) {
  const auto type = scaling_type(scaling);
  if (type == "default") return {};
  if (type == "dynamic") {  // stretches texts beyond the context only, and those are refused
    (void)scaling.number("factor", factor_range);
    (void)original_context(scaling, keys);
    return {};
  }
  if (type == "linear") {
    RotaryScaling result;
    result.kind = RotaryScaling::Kind::linear;
    result.factor = scaling.number("factor", factor_range);
    return result;
  }
  if (type == "llama3") return read_llama3(scaling, keys);
  if (type == "yarn") return read_yarn(scaling, keys);
  if (type == "longrope" || type == "su") return read_longrope(scaling, keys);
  scaling.fail(scaling.has("rope_type") ? "rope_type" : "type",
               "one of default, dynamic, linear, llama3, longrope, yarn");
}

}  // namespace

void read_tokens(const JsonReader& reader, Config& config) {
  const IntegerRange ids{0, config.n_vocab - 1};
  if (reader.has("bos_token_id")) {
    const auto id = reader.integer("bos_token_id", {});
    if (id >= 0 && id < config.n_vocab) config.bos = static_cast<TokenId>(id);
  }
  for (const auto id : reader.integers("eos_token_id", {}))
    if (id >= ids.min && id <= ids.max) config.eos.push_back(static_cast<TokenId>(id));
}

ops::Activation read_published_activation(const JsonReader& reader, std::string_view key, std::string_view absent) {
  const auto wanted = reader.text_or(key, absent);
  std::string names;
  for (const auto& [name, activation] : published_activations) {
    if (name == wanted) return activation;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  reader.fail(key, fmt::format("one of {}", names));
}

std::int64_t divide_into_heads(const JsonReader& reader, std::string_view width_key, std::int64_t d_model,
                               std::int64_t n_heads) {
  if (d_model % n_heads != 0) reader.fail(width_key, fmt::format("a multiple of the {} heads", n_heads));
  return d_model / n_heads;
}

std::int64_t read_rotated_count(const JsonReader& reader, std::int64_t head_dim, std::string_view key, double absent) {
  const auto parameters = reader.object_if("rope_parameters");
  const auto newer = parameters ? parameters->number_or("partial_rotary_factor", absent, share_range) : absent;
  return rotated_part(head_dim, reader.number_or(key, newer, share_range));
}

RotaryConfig read_rotary_parameters(const JsonReader& parameters, const RotaryKeys& keys, double theta) {
  RotaryConfig rotary;
  rotary.n_rotated = keys.n_rotated;
  rotary.theta = parameters.number_or("rope_theta", theta, theta_range);
  rotary.scaling = read_scaling(parameters, keys);
  if (parameters.has("partial_rotary_factor") &&
      rotated_part(keys.head_dim, parameters.number("partial_rotary_factor", share_range)) != keys.n_rotated)
    parameters.fail("partial_rotary_factor",
                    fmt::format("what turns {} of the {} numbers of a head", keys.n_rotated, keys.head_dim));
  parameters.refuse_unread();
  return rotary;
}

PositionConfig read_rotary(const JsonReader& reader, std::int64_t n_rotated, std::int64_t n_ctx,
                           const RotaryDefaults& defaults) {
  PositionConfig position;
  position.kind = PositionConfig::Kind::rotary;
  position.rotary.n_rotated = n_rotated;
  position.rotary.theta = reader.number_or(defaults.theta_key, defaults.theta, theta_range);
  const RotaryKeys keys{n_rotated, n_ctx,
                        reader.integer_or("original_max_position_embeddings", defaults.original_n_ctx, context_range),
                        defaults.head_dim > 0 ? defaults.head_dim : n_rotated};
  for (const auto& part : {reader.object_if("rope_parameters"), reader.object_if("rope_scaling")})
    if (part) position.rotary = read_rotary_parameters(*part, keys, position.rotary.theta);
  return position;
}

PositionConfig read_partial_rotary(const JsonReader& reader, const PartialRotaryKeys& names, std::int64_t head_dim,
                                   std::int64_t n_ctx) {
  RotaryDefaults defaults;
  defaults.theta_key = names.theta;
  defaults.head_dim = head_dim;
  return read_rotary(reader, read_rotated_count(reader, head_dim, names.factor, names.absent_factor), n_ctx, defaults);
}

}  // namespace qkv
