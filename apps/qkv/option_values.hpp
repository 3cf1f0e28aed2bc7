#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/core/token_id.hpp"

namespace qkv::app {

/// Adds an option whose value is a plain decimal integer from `min` to `max`; anything else is a usage error.
CLI::Option* add_integer(CLI::App& command, const std::string& names, std::int64_t& value, std::int64_t min,
                         std::int64_t max, const std::string& help);
/// The same for a finite decimal number.
CLI::Option* add_number(CLI::App& command, const std::string& names, double& value, double min, double max,
                        const std::string& help);

/// "auto|always|never"
[[nodiscard]] std::string alternatives(const std::vector<std::string>& names);
/// Which one `text` is. Throws CLI::ValidationError for none.
[[nodiscard]] std::size_t find_name(const std::string& option, const std::vector<std::string>& names,
                                    const std::string& text);

/// The same for one of a few names.
CLI::Option* add_name(CLI::App& command, const std::string& names, std::string& value,
                      const std::vector<std::string>& choices, const std::string& help);

template <typename Choice>
struct NamedValue {
  std::string name;
  Choice value;
};
/// The same for names that stand for values; what `value` holds beforehand is the default.
template <typename Choice>
CLI::Option* add_choice(CLI::App& command, const std::string& names, Choice& value,
                        const std::vector<NamedValue<Choice>>& choices, const std::string& help) {
  std::vector<std::string> known;
  std::string absent;
  for (const auto& choice : choices) {
    known.push_back(choice.name);
    if (choice.value == value) absent = choice.name;
  }
  return command
      .add_option_function<std::string>(
          names,
          [&value, choices, known, names](const std::string& text) {
            value = choices[find_name(names, known, text)].value;
          },
          help)
      ->type_name(alternatives(known))
      ->default_str(absent);
}
/// The whole text as a decimal integer that is not negative, or nothing.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Numbers and ranges such as "0,2,5-7", "8-32+8" (by steps of 8) or "1-64*2" (each twice the one before), in the order
/// given; nothing for an empty text. Throws Error{usage} naming `what`.
[[nodiscard]] std::vector<std::int64_t> parse_list(std::string_view text, std::string_view what);

/// Token ids from text such as "1,2,3" or "[1, 2, 3]". Throws Error{usage} naming `what` and the text that is no id.
[[nodiscard]] std::vector<TokenId> parse_ids(std::string_view text, std::string_view what);

}  // namespace qkv::app
