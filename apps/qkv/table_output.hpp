#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "output_format.hpp"

namespace qkv::app {

/// Where a table of numbers goes, and in which form: the options, and the writing.
struct TableOutput {
  std::string format;
  std::string file;
  bool force = false;
  bool log_scale = false;

  void add_to(CLI::App& command);

  /// What can be refused before anything is opened. Throws Error{usage}.
  void check() const;
  /// Says how much is coming, before the work. Throws Error{usage} for more than 1 GiB without --force.
  void announce(const TableDescription& description) const;
  /// Lets `fill` write to the format's writer; a file appears when it is complete.
  void write(const std::function<void(TableWriter&)>& fill) const;

 private:
  [[nodiscard]] bool goes_to_stdout() const;
  [[nodiscard]] const OutputFormat& chosen_format() const;
};

}  // namespace qkv::app
