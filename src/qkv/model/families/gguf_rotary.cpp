#include "qkv/model/families/gguf_rotary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/model/config_keys.hpp"

namespace qkv {
namespace {

using nlohmann::json;

constexpr NumberRange factor_range{1e-3, 1e6};

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
    const auto factor = metadata_.number_or(key("rope.scaling.factor"), 1.0, factor_range);
    const auto old_factor = metadata_.number_or(key("rope.scale_linear"), 1.0, factor_range);
    const auto n_ctx = metadata_.integer_or(key("context_length"), context_range.max, context_range);
    const auto original = metadata_.integer_or(key("rope.scaling.original_context_length"), n_ctx, context_range);
    metadata_.ignore(key("rope.scaling.finetuned"));  // whether the model was trained with it
    const auto type = metadata_.text_or(key("rope.scaling.type"), factor == 1.0 ? "none" : "linear");
    if (type == "yarn")
      return {{"rope_type", type}, {"factor", factor}, {"original_max_position_embeddings", original}};
    if (type != "none" && type != "linear") metadata_.fail(key("rope.scaling.type"), "one of none, linear, yarn");
    if (type == "linear" && factor != 1.0) return {{"rope_type", type}, {"factor", factor}};
    if (old_factor != 1.0) return {{"rope_type", "linear"}, {"factor", old_factor}};
    return nullptr;
  }

  /// `rope_scaling` with the factors of the tensor, by which the rates of all texts are divided.
  [[nodiscard]] json scaling_of(const StoredTensor& tensor) const {
    const auto where = fmt::format("{}: tensor '{}'", file_.where(), tensor.name);
    const Shape expected{head_dim() / 2};
    if (tensor.dtype != DType::f32 || tensor.shape != expected)
      throw Error(ErrorCode::model, fmt::format("{}: expected f32 {}, found {} {}", where, to_string(expected),
                                                name_of(tensor.dtype), to_string(tensor.shape)));
    std::vector<float> factors(static_cast<std::size_t>(tensor.shape[0]));
    widen(tensor.dtype, tensor.bytes.data(), factors.size(), factors.data());
    for (const auto factor : factors)
      if (!(factor >= factor_range.min && factor <= factor_range.max))
        throw Error(ErrorCode::model, fmt::format("{}: expected factors from {} to {}, found {}", where,
                                                  factor_range.min, factor_range.max, factor));
    return {{"rope_type", "longrope"},
            {"short_factor", factors},
            {"long_factor", factors},
            {"attention_factor", 1.0},
            {"original_max_position_embeddings", metadata_.integer(key("context_length"), context_range)}};
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
