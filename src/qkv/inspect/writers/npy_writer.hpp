#pragma once

#include <memory>

#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {

/// NumPy's .npy, version 1.0: one little-endian f32 array in C order. numpy.load reads it.
[[nodiscard]] std::unique_ptr<TableWriter> npy_writer(Sink& sink);

}  // namespace qkv
