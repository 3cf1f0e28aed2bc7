#pragma once

#include "qkv/model/families/llama_like.hpp"

namespace qkv {

/// What all Gemmas have in common: the gain of a norm is what is stored and 1, embeddings are multiplied by the root of
/// the width, the head is tied, heads have a width of their own. Positions are left to the family.
[[nodiscard]] Config read_gemma_like(const JsonReader& reader, LlamaDefaults defaults);

/// What came with Gemma 2: norms also of what each half of a block adds, a scale of its own for the scores, and bounds
/// for scores and logits (0 where the family has none unless the config says so).
void read_gemma2_extras(const JsonReader& reader, double score_cap, double logit_cap, Config& config);

}  // namespace qkv
