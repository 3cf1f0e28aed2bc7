#pragma once

#include <span>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/model/config.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {

/// The whole forward pass once more, in double precision and plain loops, one position after the other: nothing shared
/// with the library but the Config. Takes the weights of a native TinyModel. Returns logits [T, V], row after row.
[[nodiscard]] std::vector<float> naive_logits(const Config& config, const TinyModel& model,
                                              std::span<const TokenId> ids);

/// The activations by their formulas.
[[nodiscard]] double naive_activation(ops::Activation activation, double x);

}  // namespace qkv::test
