#include "qkv/model/native_config.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "qkv/core/utf8.hpp"
#include "qkv/model/choices.hpp"
#include "qkv/model/config_keys.hpp"

namespace qkv {
namespace {

using nlohmann::ordered_json;

constexpr IntegerRange format_versions{1, 1};
constexpr NumberRange any_scale{-1e6, 1e6};
constexpr NumberRange cap_range{0.0, 1e6};  // 0: none

void read_choice(const JsonReader& r, std::string_view key, NormConfig::Kind& to) { to = read_norm_kind(r, key); }
void read_choice(const JsonReader& r, std::string_view key, PositionConfig::Kind& to) {
  to = read_position_kind(r, key);
}
void read_choice(const JsonReader& r, std::string_view key, RotaryScaling::Kind& to) { to = read_scaling_kind(r, key); }
void read_choice(const JsonReader& r, std::string_view key, ops::RotaryLayout& to) { to = read_rotary_layout(r, key); }
void read_choice(const JsonReader& r, std::string_view key, QkNormConfig::Kind& to) { to = read_qk_norm_kind(r, key); }
void read_choice(const JsonReader& r, std::string_view key, Residual& to) { to = read_residual(r, key); }
void read_choice(const JsonReader& r, std::string_view key, ops::Activation& to) { to = read_activation(r, key); }

/// The double with the fewest digits that is the same f32: 1e-05, not 9.999999747378752e-06.
double shortest(float number) {
  const auto text = fmt::format("{}", number);
  double value = number;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return static_cast<float>(value) == number ? value : static_cast<double>(number);
}

/// Fills fields from JSON. Each member has its counterpart in FieldWriter.
class FieldReader {
 public:
  explicit FieldReader(const JsonReader& reader) : reader_(reader) {}

  void integer(const char* key, std::int64_t& value, IntegerRange range) const {
    if (asked(key)) value = reader_.integer(key, range);
  }
  void number(const char* key, double& value, NumberRange range) const {
    if (asked(key)) value = reader_.number(key, range);
  }
  void number(const char* key, float& value, NumberRange range) const {
    if (asked(key)) value = static_cast<float>(reader_.number(key, range));
  }
  void flag(const char* key, bool& value) const {
    if (asked(key)) value = reader_.boolean(key);
  }
  void text_or_none(const char* key, std::string& value) const { value = reader_.text_or(key, ""); }
  template <typename Choice>
  void choice(const char* key, Choice& value) const {
    if (asked(key)) read_choice(reader_, key, value);
  }
  /// A flag whose two values have names.
  void either(const char* key, const char* no, const char* yes, bool& value) const {
    const auto found = reader_.text(key);
    if (found != no && found != yes) reader_.fail(key, fmt::format("\"{}\" or \"{}\"", no, yes));
    value = found == yes;
  }
  /// A list of numbers, which an absent key leaves empty.
  template <typename Number, typename Range>
  void list(const char* key, std::vector<Number>& values, Range range) const {
    if (!reader_.has(key)) return;
    const auto& array = reader_.raw(key);
    if (!array.is_array()) reader_.fail(key, "an array of numbers");
    for (const auto& one : array) {
      const bool fits = std::is_integral_v<Number> ? one.is_number_integer() : one.is_number();
      if (!fits || one.get<double>() < static_cast<double>(range.min) ||
          one.get<double>() > static_cast<double>(range.max))
        reader_.fail(key, fmt::format("an array of numbers from {} to {}", range.min, range.max));
      values.push_back(one.get<Number>());
    }
  }
  /// Whether there is an object of that name; `wanted` says so to the writer.
  [[nodiscard]] bool has_object(const char* key, bool) const { return reader_.has(key); }
  /// The fields that `fields` lists may be absent: then they keep their values.
  [[nodiscard]] FieldReader with_defaults() const {
    auto reader = *this;
    reader.defaults_ = true;
    return reader;
  }
  void token_or_none(const char* key, std::optional<TokenId>& value, IntegerRange ids) const {
    if (reader_.has(key)) value = static_cast<TokenId>(reader_.integer(key, ids));
  }
  void tokens(const char* key, std::vector<TokenId>& value, IntegerRange ids) const {
    for (const auto id : reader_.integers(key, ids)) value.push_back(static_cast<TokenId>(id));
  }
  /// Says what is wrong with a value that no range of its own can show.
  void require(bool good, const char* key, const std::string& expected) const {
    if (!good) reader_.fail(key, expected);
  }
  template <typename Fields>
  void object(const char* key, const Fields& fields) const {
    if (!asked(key)) return;
    const auto inner = reader_.object(key);
    fields(FieldReader(inner));
    inner.refuse_unread();
  }

 private:
  /// Whether a key is to be read: it must be there unless it may be absent.
  [[nodiscard]] bool asked(const char* key) const { return !defaults_ || reader_.has(key); }

  const JsonReader& reader_;
  bool defaults_ = false;
};

/// Writes fields as FieldReader reads them.
class FieldWriter {
 public:
  explicit FieldWriter(ordered_json& object) : object_(object) {}

  void integer(const char* key, const std::int64_t& value, IntegerRange) const { object_[key] = value; }
  void number(const char* key, const double& value, NumberRange) const { object_[key] = value; }
  void number(const char* key, const float& value, NumberRange) const { object_[key] = shortest(value); }
  void flag(const char* key, const bool& value) const { object_[key] = value; }
  void text_or_none(const char* key, const std::string& value) const { object_[key] = value; }
  template <typename Choice>
  void choice(const char* key, const Choice& value) const {
    object_[key] = name_of(value);
  }
  void either(const char* key, const char* no, const char* yes, const bool& value) const {
    object_[key] = value ? yes : no;
  }
  template <typename Number, typename Range>
  void list(const char* key, const std::vector<Number>& values, Range) const {
    object_[key] = values;
  }
  [[nodiscard]] bool has_object(const char*, bool wanted) const { return wanted; }
  [[nodiscard]] FieldWriter with_defaults() const { return *this; }
  void token_or_none(const char* key, const std::optional<TokenId>& value, IntegerRange) const {
    object_[key] = value ? ordered_json(*value) : ordered_json(nullptr);
  }
  void tokens(const char* key, const std::vector<TokenId>& value, IntegerRange) const { object_[key] = value; }
  void require(bool, const char*, const std::string&) const {}
  template <typename Fields>
  void object(const char* key, const Fields& fields) const {
    fields(FieldWriter(object_[key] = ordered_json::object()));
  }

 private:
  ordered_json& object_;
};

// The list of fields. `f` is a FieldReader, which fills them, or a FieldWriter.

template <typename F>
void list(const F& f, RotaryScaling& scaling) {
  using Kind = RotaryScaling::Kind;
  const NumberRange contexts{1.0, static_cast<double>(context_range.max)};
  f.choice("kind", scaling.kind);
  const auto kind = scaling.kind;
  if (kind == Kind::linear || kind == Kind::llama3 || kind == Kind::yarn)
    f.number("factor", scaling.factor, factor_range);
  if (kind == Kind::llama3) {
    f.number("low_frequency_factor", scaling.low_frequency_factor, factor_range);
    f.number("high_frequency_factor", scaling.high_frequency_factor, factor_range);
    f.require(scaling.high_frequency_factor > scaling.low_frequency_factor, "high_frequency_factor",
              fmt::format("more than low_frequency_factor {}", scaling.low_frequency_factor));
  }
  if (kind == Kind::yarn) {
    f.number("beta_fast", scaling.beta_fast, factor_range);
    f.number("beta_slow", scaling.beta_slow, factor_range);
    f.flag("truncate", scaling.truncate);
  }
  if (kind == Kind::longrope) {
    f.list("short_factors", scaling.short_factors, factor_range);
    f.list("long_factors", scaling.long_factors, factor_range);
  }
  if (kind == Kind::yarn || kind == Kind::longrope) f.number("magnitude", scaling.magnitude, factor_range);
  if (kind == Kind::llama3 || kind == Kind::yarn || kind == Kind::longrope)
    f.number("original_n_ctx", scaling.original_n_ctx, contexts);
}

template <typename F>
void list(const F& f, RotaryConfig& rotary) {
  f.number("theta", rotary.theta, theta_range);
  f.integer("n_rotated", rotary.n_rotated, width_range);
  f.choice("layout", rotary.layout);
  f.object("scaling", [&](const F& inner) { list(inner, rotary.scaling); });
}

template <typename F>
void list(const F& f, AlibiConfig& alibi) {
  f.number("largest_exponent", alibi.largest_exponent, factor_range);
  f.flag("scaled", alibi.scaled);
  f.flag("rounded", alibi.rounded);
  f.with_defaults().number("strength", alibi.strength, factor_range);
}

template <typename F>
void list(const F& f, PositionConfig& position) {
  f.choice("kind", position.kind);
  if (position.kind == PositionConfig::Kind::alibi)
    f.object("alibi", [&](const F& inner) { list(inner, position.alibi); });
  if (position.kind != PositionConfig::Kind::rotary) return;
  list(f, position.rotary);
  if (f.has_object("second", position.second_rotary.has_value())) {
    if (!position.second_rotary) position.second_rotary.emplace();
    f.object("second", [&](const F& inner) { list(inner, *position.second_rotary); });
  }
  f.list("of_layer", position.rotary_of_layer, IntegerRange{-1, 1});
}

template <typename F>
void list(const F& f, NormConfig& norm) {
  f.choice("kind", norm.kind);
  f.number("epsilon", norm.epsilon, epsilon_range);
  f.flag("bias", norm.bias);
  const auto newer = f.with_defaults();
  newer.flag("gain", norm.gain);
  newer.number("gain_offset", norm.gain_offset, any_scale);
}

template <typename F>
void list(const F& f, NormPlaces& places) {
  f.flag("before", places.before);
  f.flag("after", places.after);
  f.flag("stream", places.stream);
  f.with_defaults().flag("keeps", places.keeps);
}

template <typename F>
void list(const F& f, QkNormConfig& qk_norm) {
  f.choice("kind", qk_norm.kind);
  f.object("norm", [&](const F& inner) { list(inner, qk_norm.norm); });
}

template <typename F>
void list(const F& f, AttentionConfig& attention) {
  f.integer("n_heads", attention.n_heads, head_range);
  f.integer("n_kv_heads", attention.n_kv_heads, head_range);
  f.integer("head_dim", attention.head_dim, width_range);
  f.number("scale", attention.scale, any_scale);
  f.flag("scale_divided_by_layer", attention.scale_divided_by_layer);
  f.flag("bias_q", attention.bias_q);
  f.flag("bias_k", attention.bias_k);
  f.flag("bias_v", attention.bias_v);
  f.flag("bias_o", attention.bias_o);
  const auto newer = f.with_defaults();
  newer.list("windows", attention.windows, IntegerRange{0, context_range.max});
  newer.number("soft_cap", attention.soft_cap, cap_range);
  newer.number("clip", attention.clip, cap_range);
  newer.object("qk_norm", [&](const F& inner) { list(inner, attention.qk_norm); });
}

template <typename F>
void list(const F& f, MlpConfig& mlp) {
  f.either("kind", "plain", "gated", mlp.gated);
  f.choice("activation", mlp.activation);
  f.integer("d_ff", mlp.d_ff, width_range);
  f.flag("bias_in", mlp.bias_in);
  f.flag("bias_out", mlp.bias_out);
}

template <typename F>
void list(const F& f, HeadConfig& head) {
  f.flag("tied", head.tied);
  f.flag("bias", head.bias);
  f.with_defaults().number("soft_cap", head.soft_cap, cap_range);
}

template <typename F>
void list_tokens(const F& f, Config& config) {
  const IntegerRange ids{0, config.n_vocab - 1};
  f.token_or_none("bos", config.bos, ids);
  f.tokens("eos", config.eos, ids);
}

/// What came later: files written before have none of it.
template <typename F>
void list_newer(const F& f, Config& config) {
  f.object("norm_places", [&](const F& inner) { list(inner, config.norm_places); });
  f.flag("final_norm", config.final_norm);
  f.flag("embedding_norm", config.embedding_norm);
  f.integer("embedding_width", config.embedding_width, {0, width_range.max});
  f.integer("linear_input_group", config.linear_input_group, {0, width_range.max});
  f.number("residual_scale", config.residual_scale, any_scale);
}

template <typename F>
void list(const F& f, Config& config) {
  auto format_version = format_versions.max;
  f.integer("format_version", format_version, format_versions);
  f.text_or_none("name", config.name);
  f.integer("n_layers", config.n_layers, layer_range);
  f.integer("d_model", config.d_model, width_range);
  f.integer("n_vocab", config.n_vocab, vocabulary_range);
  f.integer("n_ctx", config.n_ctx, context_range);
  f.object("position", [&](const F& inner) { list(inner, config.position); });
  f.object("norm", [&](const F& inner) { list(inner, config.norm); });
  f.object("attention", [&](const F& inner) { list(inner, config.attention); });
  f.object("mlp", [&](const F& inner) { list(inner, config.mlp); });
  f.choice("residual", config.residual);
  list_newer(f.with_defaults(), config);
  f.number("embedding_scale", config.embedding_scale, any_scale);
  f.number("logit_scale", config.logit_scale, any_scale);
  f.object("head", [&](const F& inner) { list(inner, config.head); });
  f.object("tokens", [&](const F& inner) { list_tokens(inner, config); });
}

}  // namespace

Config read_native_config(const JsonReader& reader) {
  Config config;
  list(FieldReader(reader), config);
  return config;
}

ordered_json native_config_json(Config config) {
  ordered_json object{{"model_type", "qkv"}};
  config.name = replace_invalid_utf8(config.name);
  list(FieldWriter(object), config);
  return object;
}

}  // namespace qkv
