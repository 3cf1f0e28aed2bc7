#pragma once

#include <string_view>
#include <utility>

#include "qkv/io/json_reader.hpp"
#include "qkv/model/config.hpp"
#include "qkv/model/observer.hpp"

namespace qkv {

/// The names of choices as the native config.json spells them and `info` prints them.
template <typename Choice>
using NamedChoice = std::pair<std::string_view, Choice>;

[[nodiscard]] std::string_view name_of(NormConfig::Kind kind);
[[nodiscard]] std::string_view name_of(PositionConfig::Kind kind);
[[nodiscard]] std::string_view name_of(RotaryScaling::Kind kind);
[[nodiscard]] std::string_view name_of(QkNormConfig::Kind kind);
[[nodiscard]] std::string_view name_of(Residual residual);
[[nodiscard]] std::string_view name_of(ops::RotaryLayout layout);
[[nodiscard]] std::string_view name_of(ops::Activation activation);

[[nodiscard]] NormConfig::Kind read_norm_kind(const JsonReader& reader, std::string_view key);
[[nodiscard]] PositionConfig::Kind read_position_kind(const JsonReader& reader, std::string_view key);
[[nodiscard]] RotaryScaling::Kind read_scaling_kind(const JsonReader& reader, std::string_view key);
[[nodiscard]] QkNormConfig::Kind read_qk_norm_kind(const JsonReader& reader, std::string_view key);
[[nodiscard]] Residual read_residual(const JsonReader& reader, std::string_view key);
[[nodiscard]] ops::RotaryLayout read_rotary_layout(const JsonReader& reader, std::string_view key);
[[nodiscard]] ops::Activation read_activation(const JsonReader& reader, std::string_view key);

}  // namespace qkv
