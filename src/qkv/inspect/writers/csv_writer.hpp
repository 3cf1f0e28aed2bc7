#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {

/// Comma-separated values in long form, one number a line (RFC 4180). A causal table has
/// layer,head,query,key,query_token,key_token,value and only the cells that a query may see; others have a column for
/// each axis, the token, and the value. A number reads back as the same f32; NaN is empty.
[[nodiscard]] std::unique_ptr<TableWriter> csv_writer(Sink& sink);

/// A field: in quotes where it must be. NUL and bytes that are no character are written as \xHH, since readers stumble
/// on them.
[[nodiscard]] std::string csv_field(std::string_view bytes);

}  // namespace qkv
