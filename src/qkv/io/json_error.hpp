#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace qkv {

/// What the parser found wrong, without the name that it has for that kind of error: "[json.exception.parse_error.101]
/// ".
[[nodiscard]] inline std::string problem_of(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const auto end = text.find("] ");
  return std::string(text.substr(end == std::string_view::npos ? 0 : end + 2));
}

}  // namespace qkv
