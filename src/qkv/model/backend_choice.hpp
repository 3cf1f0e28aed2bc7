#pragma once

#include "qkv/model/config.hpp"
#include "qkv/model/model.hpp"
#include "qkv/ops/linear.hpp"

namespace qkv {

/// Who multiplies by the weights of a model: the backend that the options name, or for "auto" the one that suits the
/// model and the processor. Throws Error{usage} naming a backend that is not built in, or a precision that it, or that
/// none, offers.
[[nodiscard]] const ops::LinearBackend& choose_backend(const LoadOptions& options, const Config& config);

}  // namespace qkv
