#include "qkv/model/config_keys.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace qkv {
namespace {

constexpr double default_theta = 10000.0;
constexpr NumberRange theta_range{1.0, 1e12};
constexpr NumberRange factor_range{1e-3, 1e6};

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

RotaryScaling read_scaling(const JsonReader& scaling, std::int64_t original_n_ctx) {
  RotaryScaling result;
  const auto type = scaling_type(scaling);
  if (type == "default") return result;
  if (type != "linear" && type != "llama3")
    scaling.fail(scaling.has("rope_type") ? "rope_type" : "type", "one of default, linear, llama3");
  result.kind = type == "linear" ? RotaryScaling::Kind::linear : RotaryScaling::Kind::llama3;
  result.factor = scaling.number("factor", factor_range);
  if (type == "llama3") {
    result.low_frequency_factor = scaling.number("low_freq_factor", factor_range);
    result.high_frequency_factor = scaling.number("high_freq_factor", factor_range);
    if (result.high_frequency_factor <= result.low_frequency_factor)
      scaling.fail("high_freq_factor", fmt::format("more than low_freq_factor {}", result.low_frequency_factor));
    result.original_n_ctx =
        static_cast<double>(scaling.integer_or("original_max_position_embeddings", original_n_ctx, context_range));
  }
  return result;
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

PositionConfig read_rotary(const JsonReader& reader, std::int64_t n_rotated, std::int64_t original_n_ctx) {
  PositionConfig position;
  position.kind = PositionConfig::Kind::rotary;
  auto& rotary = position.rotary;
  rotary.n_rotated = n_rotated;
  rotary.theta = reader.number_or("rope_theta", default_theta, theta_range);
  const auto parameters = reader.object_if("rope_parameters");
  const auto scaling = reader.object_if("rope_scaling");
  if (parameters) rotary.theta = parameters->number_or("rope_theta", rotary.theta, theta_range);
  if (scaling) rotary.theta = scaling->number_or("rope_theta", rotary.theta, theta_range);
  for (const auto& part : {parameters, scaling}) {
    if (!part) continue;
    rotary.scaling = read_scaling(*part, original_n_ctx);
    part->refuse_unread();
  }
  return position;
}

}  // namespace qkv
