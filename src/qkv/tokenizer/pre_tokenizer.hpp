#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "qkv/io/json_reader.hpp"

namespace qkv::tokenizing {

/// A part of the text on its way to the model. The view holds only while it is handed on.
struct Piece {
  std::string_view text;
  bool at_start;  // whether it begins where the whole text begins
};
using PieceSink = std::function<void(const Piece&)>;

/// Cuts text into the pieces that the model may not join.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Hands the pieces of `piece`, none of them empty, to `next`, in order.
  virtual void split(const Piece& piece, const PieceSink& next) const = 0;
  /// Whether the pieces are spelled in the byte-level alphabet.
  [[nodiscard]] virtual bool is_byte_level() const { return false; }
};

/// The pre-tokenizer that `object` describes. Throws Error{model} naming file, key and what is not understood.
[[nodiscard]] std::unique_ptr<const PreTokenizer> make_pre_tokenizer(const JsonReader& object);

}  // namespace qkv::tokenizing
