#include "qkv/inspect/writers/picture_labels.hpp"

#include <fmt/format.h>

#include "qkv/draw/printable.hpp"

namespace qkv::picture {

bool labelled_by_tokens(const Axis& axis) {
  return axis.name == "query" || axis.name == "key" || axis.name == "position";
}

std::string entry_label(const TableDescription& description, const Axis& axis, std::int64_t entry,
                        std::size_t columns) {
  const auto value = axis.values[static_cast<std::size_t>(entry)];
  const bool is_token =
      labelled_by_tokens(axis) && value >= 0 && value < static_cast<std::int64_t>(description.tokens.size());
  if (!is_token) return std::to_string(value);
  const auto& token = description.tokens[static_cast<std::size_t>(value)];
  auto label = draw::printable_label(token.text, columns);
  return label.empty() ? fmt::format("id {}", token.id) : label;
}

std::string axis_title(const Axis& axis) {
  if (axis.name == "query") return "query (asks)";
  if (axis.name == "key") return "key (is asked)";
  if (axis.name == "vocabulary") return "vocabulary (token id)";
  return draw::printable_text(axis.name, 40);
}

}  // namespace qkv::picture
