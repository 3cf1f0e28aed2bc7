#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "qkv/inspect/table.hpp"
#include "qkv/inspect/writers/picture_writer.hpp"
#include "support/sinks.hpp"

namespace qkv::test {

inline Axis numbered_axis(const std::string& name, std::int64_t count) {
  Axis axis{name, {}};
  for (std::int64_t i = 0; i < count; ++i) axis.values.push_back(i);
  return axis;
}

/// A causal table of `n` tokens.
inline TableDescription attention_table(std::int64_t layers, std::int64_t heads, std::int64_t n,
                                        const std::string& what = "weights") {
  TableDescription table;
  table.model = "tiny";
  table.what = what;
  table.axes = {numbered_axis("layer", layers), numbered_axis("head", heads), numbered_axis("query", n),
                numbered_axis("key", n)};
  for (std::int64_t i = 0; i < n; ++i) table.tokens.push_back({static_cast<TokenId>(i), " t" + std::to_string(i)});
  table.causal = true;
  return table;
}

/// What stands in map `map` at a row and a column.
using CellValue = std::function<float(std::int64_t map, std::int64_t row, std::int64_t column)>;

inline void feed(TableWriter& writer, const TableDescription& table, const CellValue& value) {
  const auto rows = table.axes[table.axes.size() - 2].extent();
  std::int64_t maps = 1;
  for (std::size_t i = 0; i + 2 < table.axes.size(); ++i) maps *= table.axes[i].extent();
  std::vector<float> numbers(table.axes.back().values.size());
  for (std::int64_t map = 0; map < maps; ++map)
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < numbers.size(); ++column)
        numbers[column] = value(map, row, static_cast<std::int64_t>(column));
      writer.row(numbers);
    }
}

inline std::string picture_of(const TableDescription& table, PictureFormat format, const CellValue& value,
                              const PictureOptions& options = {}) {
  TextSink sink;
  const auto writer = picture_writer(sink, format, options);
  writer->begin(table);
  feed(*writer, table, value);
  writer->end();
  return sink.bytes;
}

/// Shares that tell the cells apart; 0 where a causal table is masked.
inline float share(std::int64_t map, std::int64_t row, std::int64_t column) {
  if (column > row) return 0;
  return static_cast<float>((map * 7 + row * 5 + column * 3) % 19) / 20.0F;
}

}  // namespace qkv::test
