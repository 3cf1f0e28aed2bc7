#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::test {

struct XmlElement {
  std::string name;
  std::string text;  // directly in it
  std::map<std::string, std::string> attributes;
};

struct Xml {
  std::vector<XmlElement> elements;  // in the order in which they begin
  std::string error;                 // why the document is refused
};

/// A small strict parser that knows the XML of pictures: elements, quoted attributes, and the predefined entities.
[[nodiscard]] Xml parse_xml(std::string_view document);

/// How many elements there are of a name, and with a text.
[[nodiscard]] std::int64_t count(const Xml& xml, std::string_view name);
[[nodiscard]] std::int64_t count(const Xml& xml, std::string_view name, std::string_view text);

}  // namespace qkv::test
