#pragma once

#include <string_view>

namespace qkv::tokenizing {

/// A number in JSON as the library reads it that defines tokenizer.json: the digits as a whole number, then multiplied
/// or divided by a power of ten. Of 17 digits the last bit can differ from the nearest double, and which of two equal
/// ways through a text is taken turns on that bit.
[[nodiscard]] double written_score(std::string_view text);

}  // namespace qkv::tokenizing
