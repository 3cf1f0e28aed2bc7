#pragma once

#include <memory>

#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {

/// One JSON object: schema, model, what, axes, tokens, layers, heads, shape, and the values as nested arrays. A number
/// reads back as the same f32; NaN and infinities are null.
[[nodiscard]] std::unique_ptr<TableWriter> json_writer(Sink& sink);

}  // namespace qkv
