#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qkv::draw {

/// Any bytes as one short, printable line of valid UTF-8: a space becomes U+2423 (an open box, so that " dog" and "dog"
/// differ), controls and invalid bytes are escaped (\n, \x00), characters that are not seen or that turn the direction
/// of the text are named (U+202E), a combining mark that comes first gets a dotted circle to stand on. What takes more
/// than `columns` columns of text is cut, and ends in an ellipsis.
[[nodiscard]] std::string printable_label(std::string_view bytes, std::size_t columns);

/// The same with spaces as they are: for a title.
[[nodiscard]] std::string printable_text(std::string_view bytes, std::size_t columns);

}  // namespace qkv::draw
