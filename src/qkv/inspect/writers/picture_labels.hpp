#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "qkv/inspect/table.hpp"

namespace qkv::picture {

/// What an entry of an axis is called: the token for queries, keys and positions, else the number.
[[nodiscard]] std::string entry_label(const TableDescription& description, const Axis& axis, std::int64_t entry,
                                      std::size_t columns);

/// Whether the entries of an axis are tokens of the text.
[[nodiscard]] bool labelled_by_tokens(const Axis& axis);

/// What an axis is called in a picture: "query (asks)", "key (is asked)".
[[nodiscard]] std::string axis_title(const Axis& axis);

}  // namespace qkv::picture
