#pragma once

#include <span>
#include <string_view>

namespace qkv {

/// The config.json of a well-known model, for a model of that shape without its files.
struct NamedShape {
  std::string_view name;
  std::string_view config;
};

/// Every named shape. A new one is one more entry in families/shapes.cpp.
[[nodiscard]] std::span<const NamedShape> named_shapes();

}  // namespace qkv
