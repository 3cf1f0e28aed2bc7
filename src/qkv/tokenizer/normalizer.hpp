#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "qkv/io/json_reader.hpp"

namespace qkv::tokenizing {

/// How many bytes may come of a text. Rules that each write a little more than they read make terabytes of a word when
/// a file of a few lines has enough of them.
[[nodiscard]] constexpr std::size_t most_normal_bytes(std::size_t text_size) {
  return (std::size_t{1} << 20U) + 16 * text_size;
}

/// Throws Error{model} when more has come of a text than may.
void check_normal_size(std::size_t size, std::size_t most);

/// Changes text before it is cut: composes accents, writes "▁" for a space, and the like.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// `text` may hold any bytes; those that are not UTF-8 stay as they are. Throws Error{model} when more than `most`
  /// bytes come of it.
  [[nodiscard]] std::string apply(std::string text, std::size_t most) const {
    auto normal = rewrite(std::move(text), most);
    check_normal_size(normal.size(), most);
    return normal;
  }

 private:
  /// Looks at `most` where it may write many times what it reads.
  [[nodiscard]] virtual std::string rewrite(std::string text, std::size_t most) const = 0;
};

/// The normalizer that `object` describes. Throws Error{model} naming file, key and what is not understood.
[[nodiscard]] std::unique_ptr<const Normalizer> make_normalizer(const JsonReader& object);

}  // namespace qkv::tokenizing
