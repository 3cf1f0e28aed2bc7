#pragma once

#include <fmt/format.h>

#include <string>

#include "qkv/core/error.hpp"

namespace qkv {

/// Throws Error{model} of a file of weights: "<where>: <message>".
[[noreturn]] inline void fail(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::model, fmt::format("{}: {}", where, message));
}

}  // namespace qkv
