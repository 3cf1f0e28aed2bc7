#include "qkv/model/families/gguf_rotary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/model/config.hpp"
#include "qkv/model/config_keys.hpp"

namespace qkv {
namespace {

using nlohmann::json;

/// The numbers of the one rule that is ever kept as a tensor of factors; only the factor itself differs.
constexpr double low_frequency_factor = 1.0;
constexpr double high_frequency_factor = 4.0;
constexpr double original_n_ctx = 8192.0;
constexpr double factor_tolerance = 1e-4;  // relative; the factors are f32, computed in f32

class RotaryReader {
 public:
  RotaryReader(const GgufFile& file, const JsonReader& metadata, std::string_view architecture)
      : file_(file), metadata_(metadata), architecture_(architecture) {}

  /// Throws Error{model} where not whole heads are turned.
  [[nodiscard]] std::int64_t head_dim() const {
    const auto width = metadata_.integer_or(key("attention.key_length"), default_head_dim(), width_range);
    if (metadata_.integer_or(key("attention.value_length"), width, width_range) != width)
      metadata_.fail(key("attention.value_length"), fmt::format("{}, as for keys", width));
    if (metadata_.integer_or(key("rope.dimension_count"), width, width_range) != width)
      metadata_.fail(key("rope.dimension_count"), fmt::format("whole heads of {}", width));
    return width;
  }

  /// `rope_scaling` as the keys say; null where there is none.
  [[nodiscard]] json scaling() const {
    for (const auto* note : {"rope.scaling.original_context_length", "rope.scaling.finetuned"})
      metadata_.ignore(key(note));  // for kinds that are refused by their type
    const auto factor = metadata_.number_or(key("rope.scaling.factor"), 1.0, {1e-3, 1e6});
    const auto old_factor = metadata_.number_or(key("rope.scale_linear"), 1.0, {1e-3, 1e6});
    const auto type = metadata_.text_or(key("rope.scaling.type"), factor == 1.0 ? "none" : "linear");
    if (type != "none" && type != "linear") metadata_.fail(key("rope.scaling.type"), "one of none, linear");
    if (type == "linear" && factor != 1.0) return {{"rope_type", "linear"}, {"factor", factor}};
    if (old_factor != 1.0) return {{"rope_type", "linear"}, {"factor", old_factor}};
    return nullptr;
  }

  /// `rope_scaling` that gives the factors of the tensor.
  [[nodiscard]] json scaling_of(const StoredTensor& tensor) const {
    const auto where = fmt::format("{}: tensor '{}'", file_.where(), tensor.name);
    const Shape expected{head_dim() / 2};
    if (tensor.dtype != DType::f32 || tensor.shape != expected)
      throw Error(ErrorCode::model, fmt::format("{}: expected f32 {}, found {} {}", where, to_string(expected),
                                                name_of(tensor.dtype), to_string(tensor.shape)));
    std::vector<float> factors(static_cast<std::size_t>(tensor.shape[0]));
    widen(tensor.dtype, tensor.bytes.data(), factors.size(), factors.data());
    RotaryConfig plain;
    plain.theta = metadata_.number_or(key("rope.freq_base"), plain.theta, {1.0, 1e12});
    plain.n_rotated = 2 * tensor.shape[0];
    auto stretched = plain;
    stretched.scaling = {RotaryScaling::Kind::llama3, *std::max_element(factors.begin(), factors.end()),
                         low_frequency_factor, high_frequency_factor, original_n_ctx};
    const auto rates = rotary_rates(plain);
    const auto wanted = rotary_rates(stretched);
    for (std::size_t i = 0; i < factors.size(); ++i)
      if (!(std::abs(rates[i] / wanted[i] / factors[i] - 1.0) < factor_tolerance))
        throw Error(ErrorCode::model, fmt::format("{}: expected the factors of the llama3 rule ({} at {}), found {}",
                                                  where, rates[i] / wanted[i], i, factors[i]));
    return {{"rope_type", "llama3"},
            {"factor", stretched.scaling.factor},
            {"low_freq_factor", low_frequency_factor},
            {"high_freq_factor", high_frequency_factor},
            {"original_max_position_embeddings", static_cast<std::int64_t>(original_n_ctx)}};
  }

 private:
  [[nodiscard]] std::string key(std::string_view part) const { return fmt::format("{}.{}", architecture_, part); }

  [[nodiscard]] std::int64_t default_head_dim() const {
    const auto d_model = metadata_.integer(key("embedding_length"), width_range);
    return d_model / metadata_.integer(key("attention.head_count"), head_range);
  }

  const GgufFile& file_;
  const JsonReader& metadata_;
  std::string_view architecture_;
};

}  // namespace

void add_rotary(const GgufFile& file, const JsonReader& metadata, std::string_view architecture, json& config) {
  const RotaryReader reader(file, metadata, architecture);
  (void)reader.head_dim();
  config["rope_scaling"] = reader.scaling();
  const auto& tensors = file.tensors();
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [](const StoredTensor& tensor) { return tensor.name == rotary_factors_name; });
  if (found == tensors.end()) return;
  if (!config["rope_scaling"].is_null())
    throw Error(ErrorCode::model, fmt::format("{}: tensor '{}': expected none beside a scaling among the keys",
                                              file.where(), rotary_factors_name));
  config["rope_scaling"] = reader.scaling_of(*found);
}

}  // namespace qkv
