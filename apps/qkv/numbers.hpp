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

/// The whole text as a decimal integer that is not negative, or nothing.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Numbers and ranges such as "0,2,5-7", in the order given; nothing for an empty text. Throws Error{usage} naming `what`.
[[nodiscard]] std::vector<std::int64_t> parse_list(std::string_view text, std::string_view what);

/// Token ids from text such as "1,2,3" or "[1, 2, 3]". Throws Error{usage} naming `what` and the text that is no id.
[[nodiscard]] std::vector<TokenId> parse_ids(std::string_view text, std::string_view what);

}  // namespace qkv::app
