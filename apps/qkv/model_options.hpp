#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "progress_line.hpp"
#include "qkv/model/model.hpp"

namespace qkv::app {

inline constexpr std::int64_t most_threads = 1024;

/// The options of every command that opens a model.
struct ModelOptions {
  std::string model;         // empty: the embedded model
  std::int64_t threads = 0;  // 0: what suits the model and the machine
  std::string backend = "auto";
  std::string precision = "f32";
  std::vector<std::string> ignored_keys;

  /// -m alone, for commands that do not run the model. Returns the option -m.
  CLI::Option* add_model_to(CLI::App& command);
  /// --backend and --precision.
  void add_arithmetic_to(CLI::App& command);
  void add_to(CLI::App& command);

  /// The directory or file that -m, QKV_MODEL or neither names. Throws Error{model} when the embedded model is not
  /// found.
  [[nodiscard]] std::filesystem::path path() const;
  /// How to open it; `line` must outlive the opening.
  [[nodiscard]] LoadOptions load_options(ProgressLine& line) const;
  /// Opens the model, with a progress line on a terminal when it takes a while.
  [[nodiscard]] Model load() const;
  /// The same for commands that do not run it: no weight is read.
  [[nodiscard]] ModelFiles open_files() const;
};

}  // namespace qkv::app
