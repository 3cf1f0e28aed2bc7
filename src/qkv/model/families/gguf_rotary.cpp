#include "qkv/model/families/gguf_rotary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/model/config_keys.hpp"

namespace qkv {
namespace {

using nlohmann::json;

/// Factors of all texts, or those of short and of long ones.
constexpr std::string_view all_texts = "rope_freqs.weight";
constexpr std::string_view short_texts = "rope_factors_short.weight";
constexpr std::string_view long_texts = "rope_factors_long.weight";

class RotaryReader {
 public:
  RotaryReader(const GgufFile& file, const JsonReader& metadata, const GgufArchitecture& architecture)
      : file_(file), metadata_(metadata), architecture_(architecture) {
    const auto d_model = metadata_.integer(key("embedding_length"), width_range);
    const auto usual = d_model / metadata_.integer(key("attention.head_count"), head_range);
    head_dim_ = metadata_.integer_or(key("attention.key_length"), usual, width_range);
    if (metadata_.integer_or(key("attention.value_length"), head_dim_, width_range) != head_dim_)
      metadata_.fail(key("attention.value_length"), fmt::format("{}, as for keys", head_dim_));
    n_turned_ = metadata_.integer_or(key("rope.dimension_count"), head_dim_, width_range);
    if (n_turned_ > head_dim_) metadata_.fail(key("rope.dimension_count"), fmt::format("at most {}", head_dim_));
    if (n_turned_ != head_dim_ && architecture_.turned_share.empty())
      metadata_.fail(key("rope.dimension_count"), fmt::format("whole heads of {}", head_dim_));
  }

  /// The share that gives back the number when it is multiplied by the width of a head and rounded down.
  [[nodiscard]] double turned_share() const {
    const auto width = static_cast<double>(head_dim_);
    const auto share = static_cast<double>(n_turned_) / width;
    return std::floor(share * width) < static_cast<double>(n_turned_) ? std::nextafter(share, 2.0) : share;
  }

  /// `rope_scaling`; null where there is none.
  [[nodiscard]] json scaling() const {
    const auto by_keys = scaling_of_keys();
    const auto all = factors(all_texts);
    const auto shorter = factors(short_texts);
    const auto longer = factors(long_texts);
    if (!all && !shorter && !longer) return by_keys;
    const auto found = all ? all_texts : shorter ? short_texts : long_texts;
    if (!by_keys.is_null() || (all && (shorter || longer)) || (!all && !(shorter && longer)))
      throw Error(ErrorCode::model,
                  fmt::format("{}: tensor '{}': expected one scaling of rotary positions, found parts "
                              "of several",
                              file_.where(), found));
    json scaling{{"rope_type", "longrope"},
                 {"short_factor", all ? *all : *shorter},
                 {"long_factor", all ? *all : *longer},
                 {"original_max_position_embeddings", original_n_ctx()}};
    const auto magnitude = key("rope.scaling.attn_factor");
    if (all || metadata_.has(magnitude))
      scaling["attention_factor"] = metadata_.number_or(magnitude, 1.0, factor_range);
    return scaling;
  }

 private:
  [[nodiscard]] std::string key(std::string_view part) const { return fmt::format("{}.{}", architecture_.name, part); }

  [[nodiscard]] std::int64_t original_n_ctx() const {
    const auto n_ctx = metadata_.integer(key("context_length"), context_range);
    return metadata_.integer_or(key("rope.scaling.original_context_length"), n_ctx, context_range);
  }

  [[nodiscard]] json scaling_of_keys() const {
    const auto factor = metadata_.number_or(key("rope.scaling.factor"), 1.0, factor_range);
    const auto old_factor = metadata_.number_or(key("rope.scale_linear"), 1.0, factor_range);
    metadata_.ignore(key("rope.scaling.finetuned"));  // whether the model was trained with it
    metadata_.ignore(key("rope.scaling.original_context_length"));
    const auto type = metadata_.text_or(key("rope.scaling.type"), factor == 1.0 ? "none" : "linear");
    if (type == "yarn")
      return {{"rope_type", type}, {"factor", factor}, {"original_max_position_embeddings", original_n_ctx()}};
    if (type != "none" && type != "linear") metadata_.fail(key("rope.scaling.type"), "one of none, linear, yarn");
    if (type == "linear" && factor != 1.0) return {{"rope_type", type}, {"factor", factor}};
    if (old_factor != 1.0) return {{"rope_type", "linear"}, {"factor", old_factor}};
    return nullptr;
  }

  /// The numbers of such a tensor, by which rates are divided; nothing where it is not there.
  [[nodiscard]] std::optional<std::vector<float>> factors(std::string_view name) const {
    const auto& tensors = file_.tensors();
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const StoredTensor& tensor) { return tensor.name == name; });
    if (found == tensors.end()) return std::nullopt;
    const auto where = fmt::format("{}: tensor '{}'", file_.where(), name);
    const Shape expected{n_turned_ / 2};
    if (found->dtype != DType::f32 || found->shape != expected)
      throw Error(ErrorCode::model, fmt::format("{}: expected f32 {}, found {} {}", where, to_string(expected),
                                                name_of(found->dtype), to_string(found->shape)));
    std::vector<float> numbers(static_cast<std::size_t>(expected[0]));
    widen(found->dtype, found->bytes.data(), numbers.size(), numbers.data());
    for (const auto factor : numbers)
      if (!(factor >= factor_range.min && factor <= factor_range.max))
        throw Error(ErrorCode::model, fmt::format("{}: expected factors from {} to {}, found {}", where,
                                                  factor_range.min, factor_range.max, factor));
    return numbers;
  }

  const GgufFile& file_;
  const JsonReader& metadata_;
  const GgufArchitecture& architecture_;
  std::int64_t head_dim_;
  std::int64_t n_turned_;
};

}  // namespace

bool is_rotary_factors(std::string_view name) { return name == all_texts || name == short_texts || name == long_texts; }

void add_rotary(const GgufFile& file, const JsonReader& metadata, const GgufArchitecture& architecture, json& config) {
  const RotaryReader reader(file, metadata, architecture);
  const auto scaling = reader.scaling();
  config["rope_scaling"] = scaling;
  // Beside the scaling too, since a family may have another default there, which would come first.
  constexpr auto original = "original_max_position_embeddings";
  if (scaling.contains(original)) config[original] = scaling[original];
  if (!architecture.turned_share.empty()) config[architecture.turned_share] = reader.turned_share();
}

}  // namespace qkv
