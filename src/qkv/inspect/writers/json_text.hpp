#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace qkv {

/// Puts text under `key`. JSON is UTF-8: bytes that are not become U+FFFD, and all bytes stand in hexadecimal beside it
/// under `key`_hex.
void put_text(nlohmann::ordered_json& object, const std::string& key, std::string_view text);

}  // namespace qkv
