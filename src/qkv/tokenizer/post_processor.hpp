#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/io/json_reader.hpp"

namespace qkv::tokenizing {

/// Adds what belongs around the ids of a text: a begin-of-text token, say.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  virtual void apply(std::vector<TokenId>& ids) const = 0;
  /// Whether it says what belongs around a text, be it nothing.
  [[nodiscard]] virtual bool decides() const { return true; }
};

/// The post-processor that `object` describes. `is_known` says whether an id is in the vocabulary. Throws Error{model}
/// naming file, key and what is not understood.
[[nodiscard]] std::unique_ptr<const PostProcessor> make_post_processor(const JsonReader& object,
                                                                       const std::function<bool(TokenId)>& is_known);

/// Puts `before` and `after` around the ids.
[[nodiscard]] std::unique_ptr<const PostProcessor> make_surrounding_post_processor(std::vector<TokenId> before,
                                                                                   std::vector<TokenId> after);

}  // namespace qkv::tokenizing
