#include "qkv/inspect/writers/json_text.hpp"

#include <fmt/format.h>

#include "qkv/core/utf8.hpp"

namespace qkv {

void put_text(nlohmann::ordered_json& object, const std::string& key, std::string_view text) {
  object[key] = replace_invalid_utf8(text);
  if (is_valid_utf8(text)) return;
  std::string hex;
  for (const auto byte : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  object[key + "_hex"] = hex;
}

}  // namespace qkv
