#include "support/xml.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "qkv/core/utf8.hpp"

namespace qkv::test {
namespace {

std::string unescaped(std::string_view text, std::string& error) {
  constexpr std::array<std::pair<std::string_view, char>, 5> entities{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string plain;
  while (!text.empty()) {
    if (text.front() != '&') {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    bool known = false;
    for (const auto& [entity, character] : entities)
      if (text.substr(0, entity.size()) == entity) {
        plain += character;
        text.remove_prefix(entity.size());
        known = true;
        break;
      }
    if (!known) {
      error = "an ampersand that begins no entity";
      return plain;
    }
  }
  return plain;
}

/// Reads the attributes of a tag: name="value", separated by spaces, no '<' inside. Whether they are sound.
bool read_attributes(std::string_view rest, XmlElement& element) {
  while (!rest.empty()) {
    if (rest.front() != ' ') return false;
    const auto equals = rest.find("=\"");
    if (equals == std::string_view::npos ||
        rest.substr(1, equals - 1).find_first_of(" <>\"'&") != std::string_view::npos)
      return false;
    const auto close = rest.find('"', equals + 2);
    if (close == std::string_view::npos) return false;
    const auto value = rest.substr(equals + 2, close - equals - 2);
    if (value.find('<') != std::string_view::npos) return false;
    element.attributes[std::string(rest.substr(1, equals - 1))] = value;
    rest.remove_prefix(close + 1);
  }
  return true;
}

}  // namespace

Xml parse_xml(std::string_view document) {
  Xml xml;
  if (!is_valid_utf8(document)) xml.error = "not UTF-8";
  for (const auto c : document)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') xml.error = "a control character";
  constexpr std::string_view declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (document.substr(0, declaration.size()) != declaration) xml.error = "no declaration";
  document.remove_prefix(std::min(document.size(), declaration.size()));
  std::vector<std::size_t> open;
  while (xml.error.empty() && !document.empty()) {
    const auto less = document.find('<');
    const auto text = unescaped(document.substr(0, less), xml.error);
    if (!open.empty()) xml.elements[open.back()].text += text;
    if (less == std::string_view::npos) break;
    const auto greater = document.find('>', less);
    if (greater == std::string_view::npos) return xml.error = "a tag without end", xml;
    auto tag = document.substr(less + 1, greater - less - 1);
    document.remove_prefix(greater + 1);
    if (tag.front() == '/') {
      if (open.empty() || xml.elements[open.back()].name != tag.substr(1)) return xml.error = "a wrong end tag", xml;
      open.pop_back();
      continue;
    }
    const bool closed = tag.back() == '/';
    if (closed) tag.remove_suffix(1);
    const auto name = tag.substr(0, tag.find(' '));
    XmlElement element{std::string(name), "", {}};
    if (!read_attributes(tag.substr(name.size()), element)) return xml.error = "unsound attributes", xml;
    if (!closed) open.push_back(xml.elements.size());
    xml.elements.push_back(std::move(element));
  }
  if (!open.empty() && xml.error.empty()) xml.error = "an element without end";
  return xml;
}

std::int64_t count(const Xml& xml, std::string_view name) {
  return std::count_if(xml.elements.begin(), xml.elements.end(),
                       [&](const XmlElement& element) { return element.name == name; });
}

std::int64_t count(const Xml& xml, std::string_view name, std::string_view text) {
  return std::count_if(xml.elements.begin(), xml.elements.end(),
                       [&](const XmlElement& element) { return element.name == name && element.text == text; });
}

}  // namespace qkv::test
