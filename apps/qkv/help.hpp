#pragma once

#include <CLI/CLI.hpp>

namespace qkv::app {

/// Help in two columns: names and value on the left, what it does and its default on the right.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace qkv::app
