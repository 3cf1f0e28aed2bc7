#pragma once

#include <span>

#include "qkv/model/config.hpp"
#include "qkv/ops/norm.hpp"

namespace qkv {

/// A norm with its learned numbers.
struct Norm {
  NormConfig config;
  std::span<const float> gain;  // [D]
  std::span<const float> bias;  // [D], or empty

  /// x [T, D] -> y [T, D].
  void apply(ConstMatrixView x, MatrixView y) const {
    if (config.kind == NormConfig::Kind::layer)
      ops::layer_norm(x, gain, bias, config.epsilon, y);
    else
      ops::rms_norm(x, gain, bias, config.epsilon, y);
  }
};

}  // namespace qkv
