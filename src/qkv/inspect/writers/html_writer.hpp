#pragma once

#include <memory>

#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv {

/// One page that shows the table in a browser: every head as a picture, one of them large, each number on demand, and
/// the text shaded by what attends to what. The file holds all that it needs and asks no network for anything.
///
/// Takes tables of two to four axes. The last two are the rows and columns of the pictures, at most 4096 each; those
/// before them are the rows and columns of the grid of pictures. begin() throws Error{usage} for any other table,
/// before anything is written. Of a causal table only the cells that a query may see are kept. The writer holds one
/// row at a time, and `sink` must outlive it.
[[nodiscard]] std::unique_ptr<TableWriter> html_writer(Sink& sink);

}  // namespace qkv
