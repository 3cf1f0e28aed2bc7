#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qkv::tokenizing {

// The byte-level alphabet gives each of the 256 bytes one printable character, so that any bytes can be spelled in a
// vocabulary of text: printable Latin-1 bytes stand for themselves, the others take U+0100 onwards in their order.
// A space is spelled U+0120 ("Ġ").

/// Appends the spelling of `bytes`.
void append_spelling(std::string& spelled, std::string_view bytes);

/// The bytes that `spelled` stands for; nothing when it holds a character outside the alphabet.
[[nodiscard]] std::optional<std::string> spelled_bytes(std::string_view spelled);

}  // namespace qkv::tokenizing
