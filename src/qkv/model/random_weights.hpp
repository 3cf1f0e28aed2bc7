#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "qkv/io/weight_source.hpp"
#include "qkv/model/weight_binder.hpp"

namespace qkv {

/// Makes the tensors that a family asked for, in memory, as f32: gains near 1, everything else even in +-0.035, a
/// standard deviation of 0.02 as GPT-2 began with, so that numbers stay sane in a model of any width. One seed gives
/// one model on every machine. Throws Error{model} when there is not as much memory.
[[nodiscard]] std::shared_ptr<const WeightSource> random_weights(const std::vector<AskedTensor>& asked,
                                                                 std::uint64_t seed);

}  // namespace qkv
