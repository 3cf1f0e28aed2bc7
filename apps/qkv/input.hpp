#pragma once

#include <string>

namespace qkv::app {

/// All bytes of a file, or of standard input for "-". Throws Error{input} naming it when it cannot be read.
[[nodiscard]] std::string read_input(const std::string& path);
[[nodiscard]] bool stdin_is_terminal();

}  // namespace qkv::app
