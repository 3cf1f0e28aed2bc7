#pragma once

#include <cstdint>
#include <memory>

#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {

struct TextOptions {
  std::int64_t width = 100;  // columns of the terminal
  bool color = false;        // shade the cells, with 24-bit colour
};

/// For people, at a terminal. Each head is a grid with its tokens at both edges; where a grid is wider than the
/// terminal, each row names its strongest keys instead. Numbers that are no table over tokens are told by their
/// largest.
[[nodiscard]] std::unique_ptr<TableWriter> text_writer(Sink& sink, const TextOptions& options);

}  // namespace qkv
