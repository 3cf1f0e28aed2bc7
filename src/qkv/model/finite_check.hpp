#pragma once

#include <span>
#include <string>

#include "qkv/core/token_id.hpp"
#include "qkv/model/session.hpp"

namespace qkv {

/// Runs the tokens again from the start, watching every place, and says in one line where the first number that is NaN
/// or infinite comes up: layer, place, head, position. For after non-finite logits were met.
[[nodiscard]] std::string describe_first_non_finite(Session& session, std::span<const TokenId> tokens);

/// Throws Error{numbers} with that line when one of the `logits`, of some or all rows of what `tokens` gave, is not
/// finite.
void require_finite(std::span<const float> logits, Session& session, std::span<const TokenId> tokens);

}  // namespace qkv
