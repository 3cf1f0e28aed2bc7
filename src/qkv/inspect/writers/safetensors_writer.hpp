#pragma once

#include <memory>

#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {

/// A .safetensors file with the table under the name of what it holds, `input_ids` [n] (I64), and the axes and token
/// texts in the metadata.
[[nodiscard]] std::unique_ptr<TableWriter> safetensors_writer(Sink& sink);

}  // namespace qkv
