#include "qkv/inspect/writers/csv_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "qkv/core/utf8.hpp"
#include "qkv/inspect/writers/row_index.hpp"

namespace qkv {
namespace {

constexpr std::string_view line_end = "\r\n";

/// Axes along which the entries are tokens of the text.
bool is_text_axis(const std::string& name) { return name == "query" || name == "key" || name == "position"; }

class CsvWriter : public TableWriter {
 public:
  explicit CsvWriter(Sink& sink) : sink_(sink) {}

  void begin(const TableDescription& description) override {
    description_ = description;
    index_.emplace(description.axes);
    for (const auto& token : description.tokens) labels_.push_back(csv_field(token.text));
    std::string titles;
    for (const auto& axis : description.axes) titles += axis.name + ",";
    for (const auto& axis : description.axes)
      if (is_text_axis(axis.name)) titles += axis.name == "position" ? "token," : axis.name + "_token,";
    sink_.write(titles + "value" + std::string(line_end));
  }

  void row(std::span<const float> numbers) override {
    const auto& axes = description_.axes;
    const auto query = static_cast<std::size_t>(index_->depth() == 0 ? 0 : (*index_)[index_->depth() - 1]);
    const auto count = description_.causal ? std::min(query + 1, numbers.size()) : numbers.size();
    std::string places;
    std::string tokens;
    for (std::size_t axis = 0; axis + 1 < axes.size(); ++axis) {
      const auto place = static_cast<std::size_t>((*index_)[axis]);
      places += fmt::format("{},", axes[axis].values[place]);
      if (is_text_axis(axes[axis].name)) tokens += labels_[place] + ",";
    }
    fmt::memory_buffer text;
    auto out = std::back_inserter(text);
    const bool columns_are_tokens = is_text_axis(axes.back().name);
    for (std::size_t i = 0; i < count; ++i) {
      fmt::format_to(out, "{}{},{}", places, axes.back().values[i], tokens);
      if (columns_are_tokens) fmt::format_to(out, "{},", labels_[i]);
      if (!std::isnan(numbers[i])) fmt::format_to(out, "{}", numbers[i]);
      fmt::format_to(out, "{}", line_end);
    }
    sink_.write({text.data(), text.size()});
    index_->next();
  }

  void end() override {}

 private:
  Sink& sink_;
  TableDescription description_;
  std::optional<RowIndex> index_;
  std::vector<std::string> labels_;
};

}  // namespace

std::string csv_field(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto step = utf8_next(bytes, at);
    const auto character = bytes.substr(at, step.length);
    text += step.codepoint <= 0 ? escape_controls(character) : std::string(character);
    at += step.length;
  }
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const auto c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::unique_ptr<TableWriter> csv_writer(Sink& sink) { return std::make_unique<CsvWriter>(sink); }

}  // namespace qkv
