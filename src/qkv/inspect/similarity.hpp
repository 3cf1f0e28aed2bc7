#pragma once

#include <span>

#include "qkv/core/token_id.hpp"
#include "qkv/model/model.hpp"
#include "qkv/tensor/matrix.hpp"

namespace qkv {

/// Plain dot products of the token embeddings, [n, n]: the cheap idea that learned queries and keys replace. It knows
/// no context and no order, and A is as similar to B as B to A. Throws Error{input} for an id outside the vocabulary.
[[nodiscard]] Buffer similarity(const Model& model, std::span<const TokenId> ids);

}  // namespace qkv
