#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// A token as it labels a row or a column.
struct TokenLabel {
  TokenId id;
  std::string text;  // the bytes it stands for, any bytes: each writer escapes them for its format
};

/// One axis of a table of numbers: "layer" or "head" with the numbers chosen, in the order given; "query", "key" or
/// "position" (one entry a token); or a component ("dimension", "vocabulary").
struct Axis {
  std::string name;
  std::vector<std::int64_t> values;  // what the entries are called, one each

  [[nodiscard]] std::int64_t extent() const { return static_cast<std::int64_t>(values.size()); }
};

/// What a table of numbers holds. The numbers are in C order over the axes; rows are queries, columns are keys.
struct TableDescription {
  std::string model;
  std::string what;  // "weights", "scores", "k", ...
  std::vector<Axis> axes;
  std::vector<TokenLabel> tokens;  // the text, one entry a position
  bool causal = false;             // the last two axes are query and key, and a query sees keys 0 .. its own position

  /// What an entry of a "vocabulary" axis stands for, any bytes; none where nobody knows.
  std::function<std::string(TokenId)> text_of = nullptr;

  [[nodiscard]] Shape shape() const;
  /// The axis of that name, or null.
  [[nodiscard]] const Axis* find_axis(std::string_view name) const;
};

/// Writes a table row by row: whoever fills it never needs to hold more than a layer. One per output format.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  virtual void begin(const TableDescription& description) = 0;
  /// The next row: all numbers of the last axis. In a causal table the cells that the query may not see are 0 in
  /// `weights` and NaN in `scores`.
  virtual void row(std::span<const float> numbers) = 0;
  /// After the last row.
  virtual void end() = 0;
};

}  // namespace qkv
