#include "option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "qkv/core/error.hpp"

namespace qkv::app {
namespace {

/// The whole text as a number, with "." in every locale; false when it is none or lies outside the range.
template <typename Number>
bool parse(std::string_view text, Number min, Number max, Number& number) {
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number >= min && number <= max;
}

template <typename Number>
CLI::Option* add(CLI::App& command, const std::string& names, Number& value, Number min, Number max,
                 const std::string& help, const std::string& expected) {
  auto* option = command.add_option_function<std::string>(
      names,
      [&value, names, min, max, expected](const std::string& text) {
        if (!parse(text, min, max, value))
          throw CLI::ValidationError(names, fmt::format("expected {}, found '{}'", expected, text));
      },
      help);
  return option->type_name(std::is_integral_v<Number> ? "N" : "X")->default_str(fmt::format("{}", value));
}

}  // namespace

CLI::Option* add_integer(CLI::App& command, const std::string& names, std::int64_t& value, std::int64_t min,
                         std::int64_t max, const std::string& help) {
  return add(command, names, value, min, max, help, fmt::format("an integer from {} to {}", min, max));
}

CLI::Option* add_number(CLI::App& command, const std::string& names, double& value, double min, double max,
                        const std::string& help) {
  return add(command, names, value, min, max, help, fmt::format("a number from {} to {}", min, max));
}

std::string alternatives(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, "|")); }

std::size_t find_name(const std::string& option, const std::vector<std::string>& names, const std::string& text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    throw CLI::ValidationError(option, fmt::format("expected one of {}, found '{}'", fmt::join(names, ", "), text));
  return static_cast<std::size_t>(found - names.begin());
}

CLI::Option* add_name(CLI::App& command, const std::string& names, std::string& value,
                      const std::vector<std::string>& choices, const std::string& help) {
  return command
      .add_option_function<std::string>(
          names,
          [&value, choices, names](const std::string& text) { value = choices[find_name(names, choices, text)]; }, help)
      ->type_name(alternatives(choices))
      ->default_str(value);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  if (!parse(text, std::int64_t{0}, std::numeric_limits<std::int64_t>::max(), number)) return std::nullopt;
  return number;
}

std::vector<std::int64_t> parse_list(std::string_view text, std::string_view what) {
  constexpr std::int64_t most = 1 << 16;  // no model has as many layers or heads
  std::vector<std::int64_t> numbers;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto part = text.substr(0, comma);
    const auto dash = std::min(part.find('-'), part.size());
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == part.size() ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= most || comma + 1 == text.size())
      throw Error(ErrorCode::usage, fmt::format("{}: expected numbers such as 0,2,5-7, found '{}'", what, text));
    for (auto number = *first; number <= *last; ++number) numbers.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

std::vector<TokenId> parse_ids(std::string_view text, std::string_view what) {
  constexpr std::string_view separators = ", \t\r\n[]";
  std::vector<TokenId> ids;
  for (auto at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    const auto word = text.substr(at, end - at);
    TokenId id = 0;
    if (!parse(word, TokenId{0}, std::numeric_limits<TokenId>::max(), id))
      throw Error(ErrorCode::usage, fmt::format("{}: expected token ids such as 1,2,3, found '{}'", what, word));
    ids.push_back(id);
    at = text.find_first_not_of(separators, end);
  }
  return ids;
}

}  // namespace qkv::app
