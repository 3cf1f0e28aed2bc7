#pragma once

#include <span>

#include "qkv/model/config.hpp"
#include "qkv/ops/norm.hpp"

namespace qkv {

/// A norm with its learned numbers.
struct Norm {
  NormConfig config;
  std::span<const float> gain;  // [D], or empty where nothing is learned
  std::span<const float> bias;  // [D], or empty

  /// x [T, D] -> y [T, D], which may be the same.
  void apply(ConstMatrixView x, MatrixView y) const {
    if (config.kind == NormConfig::Kind::layer)
      ops::layer_norm(x, gain, bias, config.epsilon, y);
    else
      ops::rms_norm(x, gain, bias, config.epsilon, y);
  }

  /// The norm of `count` numbers of a row, from `first` on, where each slice of it has learned numbers of its own.
  [[nodiscard]] Norm slice(std::int64_t first, std::int64_t count) const {
    const auto part = [&](std::span<const float> all) {
      return all.empty() ? all : all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    };
    return {config, part(gain), part(bias)};
  }
};

}  // namespace qkv
