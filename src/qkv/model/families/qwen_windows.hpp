#pragma once

#include "qkv/model/config.hpp"
#include "qkv/model/families/llama_like.hpp"

namespace qkv {

/// Qwen's windows: none unless `use_sliding_window` says so; then those of `layer_types`, else of the layers from
/// `max_window_layers` on.
inline void read_qwen_windows(const JsonReader& reader, Config& config) {
  const auto given = read_window(reader, 4096);
  const auto window = reader.boolean_or("use_sliding_window", false) ? given : 0;
  const auto first = reader.integer_or("max_window_layers", 28, {0, layer_range.max});
  const auto sliding =
      read_sliding_layers(reader, config.n_layers, [&](std::int64_t layer) { return window > 0 && layer >= first; });
  config.attention.windows = windows_of(reader, sliding, window);
}

}  // namespace qkv
