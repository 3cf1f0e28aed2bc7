#pragma once

#include <cstdint>

namespace qkv {

/// The number of a token in the vocabulary, 0 <= id < n_vocab.
using TokenId = std::int32_t;

}  // namespace qkv
