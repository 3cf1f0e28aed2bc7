#pragma once

#include <cstdint>
#include <string_view>

#include "qkv/io/json_reader.hpp"
#include "qkv/model/config.hpp"

namespace qkv {

/// Ranges that no real model leaves; what lies outside is a broken file.
inline constexpr IntegerRange layer_range{1, 4096};
inline constexpr IntegerRange width_range{1, std::int64_t{1} << 24U};
inline constexpr IntegerRange head_range{1, std::int64_t{1} << 16U};
inline constexpr IntegerRange vocabulary_range{1, std::int64_t{1} << 26U};
inline constexpr IntegerRange context_range{1, std::int64_t{1} << 30U};
inline constexpr NumberRange epsilon_range{0.0, 1.0};
inline constexpr NumberRange share_range{0.0, 1.0};    // of the numbers of a head that are turned
inline constexpr NumberRange theta_range{1.0, 1e12};   // of rotary positions
inline constexpr NumberRange factor_range{1e-3, 1e6};  // by which rates, contexts or cosines and sines are changed

/// `bos_token_id` and `eos_token_id` (a number or a list), as most publishers write them.
void read_tokens(const JsonReader& reader, Config& config);

/// An activation by the name that Hugging Face gives it. Throws Error{model} for one that is not known.
[[nodiscard]] ops::Activation read_published_activation(const JsonReader& reader, std::string_view key,
                                                        std::string_view absent);

/// Width of a head where no key gives it: d_model / n_heads. Throws Error{model} when that leaves a rest.
[[nodiscard]] std::int64_t divide_into_heads(const JsonReader& reader, std::string_view width_key, std::int64_t d_model,
                                             std::int64_t n_heads);

/// How many numbers of a head are turned: the share under `key`, which newer files keep as `partial_rotary_factor` in
/// `rope_parameters`; the share `absent` when neither has it.
[[nodiscard]] std::int64_t read_rotated_count(const JsonReader& reader, std::int64_t head_dim,
                                              std::string_view key = "partial_rotary_factor", double absent = 1.0);

/// What rotary positions are like where their keys do not say.
struct RotaryDefaults {
  double theta = 10000.0;
  std::string_view theta_key = "rope_theta";
  std::int64_t original_n_ctx = 0;  // of `original_max_position_embeddings`; 0: the whole context
  std::int64_t head_dim = 0;        // where not all of a head is turned; 0: all of it is
};

/// What the keys of rotary positions refer to.
struct RotaryKeys {
  std::int64_t n_rotated;
  std::int64_t n_ctx;
  std::int64_t original_n_ctx;  // comes before what a scaling says; 0: the config has none
  std::int64_t head_dim;
};

/// One set of rotary positions from an object such as `rope_scaling`, all of whose keys must be understood. `theta`
/// where it has none of its own.
[[nodiscard]] RotaryConfig read_rotary_parameters(const JsonReader& parameters, const RotaryKeys& keys, double theta);

/// Rotary positions, the same in every layer, from `rope_parameters` (newer) or `rope_theta` with `rope_scaling`
/// (older).
[[nodiscard]] PositionConfig read_rotary(const JsonReader& reader, std::int64_t n_rotated, std::int64_t n_ctx,
                                         const RotaryDefaults& defaults = {});

/// The same where a share of each head is rotated, the rest not. The keys beside `rope_parameters` go by several names.
struct PartialRotaryKeys {
  std::string_view factor = "partial_rotary_factor";
  double absent_factor = 1.0;
  std::string_view theta = "rope_theta";
};
[[nodiscard]] PositionConfig read_partial_rotary(const JsonReader& reader, const PartialRotaryKeys& names,
                                                 std::int64_t head_dim, std::int64_t n_ctx);

}  // namespace qkv
