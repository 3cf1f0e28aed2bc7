#pragma once

#include <stdexcept>
#include <string>

#include "qkv/core/utf8.hpp"

namespace qkv {

/// What kind of thing went wrong. The program turns each into one exit status.
enum class ErrorCode {
  failed,   // something failed while running (the disk is full, a file vanished)
  usage,    // the caller asked for something that makes no sense
  model,    // a model, config or tokenizer cannot be used
  input,    // the input was refused: a prompt too long, an unknown token id
  numbers,  // NaN or infinity where a number should be
};

/// The one exception type that leaves the library. The message is one line that names the file, key,
/// tensor or option, and says what was expected and what was found. Names that come from files may hold anything:
/// control characters and bytes that are not UTF-8 are written as escape_controls() writes them.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(escape_controls(message)), code_(code) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace qkv
