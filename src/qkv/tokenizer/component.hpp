#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/json_reader.hpp"

namespace qkv::tokenizing {

/// One kind of component: the name that "type" gives it, and how to make it from the object that holds that "type".
template <typename Made, typename... Context>
struct ComponentKind {
  std::string_view type;
  Made (*make)(const JsonReader& object, Context... context);
};

/// Throws Error{model} naming the first key of `object` that nobody asked for: an option that is not understood could
/// change every id.
inline void refuse_unread(const JsonReader& object) {
  const auto unread = object.unread();
  if (!unread.empty())
    throw Error(ErrorCode::model, fmt::format("{}: key '{}': expected only keys that are known here, found this one",
                                              object.where(), unread.front()));
}

/// Makes the component that `object` describes, which is of the kind named `type`. Throws Error{model} naming file, key
/// and type when no kind has that name.
template <typename Kinds, typename... Context>
[[nodiscard]] auto make_component(const Kinds& kinds, std::string_view type, const JsonReader& object,
                                  Context&&... context) {
  std::string known;
  for (const auto& kind : kinds) {
    if (kind.type == type) {
      auto made = kind.make(object, std::forward<Context>(context)...);
      refuse_unread(object);
      return made;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.type);
  }
  object.fail("type", known);
}

/// The string under `key`, which must be exactly one character.
[[nodiscard]] std::string read_character(const JsonReader& object, std::string_view key);

/// `text` in double quotes with what would break a line escaped, cut when it is long: for messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace qkv::tokenizing
