#pragma once

#include <memory>
#include <string>

#include "qkv/io/json_reader.hpp"

namespace qkv::tokenizing {

/// Changes text before it is cut: composes accents, writes "▁" for a space, and the like.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// `text` may hold any bytes; those that are not UTF-8 stay as they are.
  [[nodiscard]] virtual std::string apply(std::string text) const = 0;
};

/// The normalizer that `object` describes. Throws Error{model} naming file, key and what is not understood.
[[nodiscard]] std::unique_ptr<const Normalizer> make_normalizer(const JsonReader& object);

}  // namespace qkv::tokenizing
