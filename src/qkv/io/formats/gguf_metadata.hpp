#pragma once

#include <string>
#include <string_view>

#include "qkv/io/formats/gguf.hpp"

namespace qkv {

/// The bytes of a GGUF file without tensors, which holds the metadata of another whose keys begin with `prefix`, as it
/// stands there: its tokenizer, say.
[[nodiscard]] std::string gguf_metadata_file(const GgufFile& file, std::string_view prefix);

}  // namespace qkv
