#include "help.hpp"

#include <fmt/format.h>

namespace qkv::app {

HelpFormatter::HelpFormatter() {
  constexpr std::size_t left_column = 38;
  column_width(left_column);
  label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const bool takes_value = option->get_type_size() != 0 && !option->get_type_name().empty();
  return takes_value ? fmt::format(" {}", option->get_type_name()) : std::string();
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const auto absent = option->get_default_str();
  const auto text = option->get_description();
  return absent.empty() ? text : fmt::format("{} [{}]", text, absent);
}

}  // namespace qkv::app
