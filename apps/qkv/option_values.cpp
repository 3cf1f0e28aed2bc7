#include "option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "qkv/core/error.hpp"
#include "qkv/model/config_keys.hpp"

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

constexpr std::int64_t most_numbers = std::int64_t{1} << 20U;  // in one list: a slip of the hand should not fill memory

/// From `first` to `last`: the next number is factor times the one before, and step more.
struct Series {
  std::int64_t first;
  std::int64_t last;
  std::int64_t factor = 1;
  std::int64_t step = 1;
};

/// "5", "5-7", "8-32+8" or "1-64*2".
std::optional<Series> parse_series(std::string_view text) {
  constexpr auto most = context_range.max;  // no model has more layers, heads or positions
  const auto dash = std::min(text.find('-'), text.size());
  const auto sign = std::min(text.find_first_of("+*", dash), text.size());
  const auto first = parse_integer(text.substr(0, dash));
  const auto last = dash == text.size() ? first : parse_integer(text.substr(dash + 1, sign - dash - 1));
  if (!first || !last || *first > *last || *last > most) return std::nullopt;
  Series series{*first, *last};
  if (sign == text.size()) return series;
  const auto by = parse_integer(text.substr(sign + 1));
  const bool multiplies = text[sign] == '*';
  if (!by || *by > most || *by < (multiplies ? 2 : 1) || (multiplies && *first == 0)) return std::nullopt;
  series.factor = multiplies ? *by : 1;
  series.step = multiplies ? 0 : *by;
  return series;
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
  std::vector<std::int64_t> numbers;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto series = parse_series(text.substr(0, comma));
    if (!series || comma + 1 == text.size())
      throw Error(ErrorCode::usage,
                  fmt::format("{}: expected numbers from 0 to {} such as 0,2,5-7 or 8-32+8 or 1-64*2, found '{}'", what,
                              context_range.max, text));
    for (auto number = series->first; number <= series->last; number = number * series->factor + series->step) {
      if (static_cast<std::int64_t>(numbers.size()) == most_numbers)
        throw Error(ErrorCode::usage, fmt::format("{}: expected at most {} numbers, found more", what, most_numbers));
      numbers.push_back(number);
    }
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
