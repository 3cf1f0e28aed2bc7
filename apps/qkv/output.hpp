#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/inspect/table.hpp"
#include "qkv/inspect/writers/json_text.hpp"

namespace qkv::app {

/// Writes bytes to standard output as they are. Throws Error{failed} when they cannot be written (a full disk).
void write_out(std::string_view bytes);
/// The same, and makes sure they have left the process.
void write_out_now(std::string_view bytes);
[[nodiscard]] bool stdout_is_terminal();

using OrderedJson = nlohmann::ordered_json;

/// [{"id", "text"}], one entry a token.
[[nodiscard]] OrderedJson tokens_json(std::span<const TokenLabel> tokens);

/// Columns, each as wide as its widest cell on a terminal. Numbers to the right where `right` says so.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;
  /// The same as a table in Markdown.
  [[nodiscard]] std::string markdown() const;

 private:
  /// All rows, the titles first, each cell as wide as its column.
  [[nodiscard]] std::vector<std::vector<std::string>> padded() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace qkv::app
