#include "qkv/tokenizer/component.hpp"

#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {

std::string read_character(const JsonReader& object, std::string_view key) {
  auto text = object.text(key);
  if (text.empty() || first_character(text).length != text.size()) object.fail(key, "one character");
  return text;
}

std::string in_quotes(std::string_view text) {
  using nlohmann::json;
  constexpr std::size_t longest = 60;
  auto spelled = json(std::string(text.substr(0, longest))).dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > longest) spelled += "...";
  return spelled;
}

}  // namespace qkv::tokenizing
