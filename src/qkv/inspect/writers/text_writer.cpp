#include "qkv/inspect/writers/text_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "qkv/core/utf8.hpp"
#include "qkv/inspect/color_scale.hpp"
#include "qkv/inspect/writers/row_index.hpp"

namespace qkv {
namespace {

constexpr std::size_t widest_label = 16;
constexpr std::size_t widest_cell = 9;
constexpr std::size_t named_per_row = 5;  // where the grid is too wide

/// The first columns of a text, with an ellipsis where something was cut off.
std::string fit(const std::string& text, std::size_t columns) {
  if (display_width(text) <= columns) return text;
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8_next(text, at);
    const auto character = text.substr(at, step.length);
    if (display_width(kept) + display_width(character) + 1 > columns) break;
    kept += character;
    at += step.length;
  }
  return kept + "…";
}

std::string pad_left(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, display_width(text)), ' ') + text;
}

std::string pad_right(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, display_width(text)), ' ');
}

/// A token on one line; a space in front of a word is shown.
std::string label_of(const TokenLabel& token) {
  auto text = escape_controls(token.text);
  if (!text.empty() && text.front() == ' ') text.replace(0, 1, "·");
  return text;
}

std::string painted(const std::string& text, float value, const ColorScale& scale) {
  const auto back = scale(value);
  const auto front = readable_on(back);
  return fmt::format("\x1b[48;2;{};{};{}m\x1b[38;2;{};{};{}m{}\x1b[0m", back.red, back.green, back.blue, front.red,
                     front.green, front.blue, text);
}

class TextWriter : public TableWriter {
 public:
  TextWriter(Sink& sink, const TextOptions& options) : sink_(sink), options_(options) {}

  void begin(const TableDescription& description) override {
    description_ = description;
    index_.emplace(description.axes);
    for (const auto& token : description.tokens) labels_.push_back(label_of(token));
    label_width_ = 0;
    for (const auto& label : labels_)
      label_width_ = std::max(label_width_, std::min(display_width(label), widest_label));
    last_is_tokens_ = description.axes.back().name == "key";
  }

  void row(std::span<const float> numbers) override {
    if (!last_is_tokens_) return write_numbers(numbers);
    rows_.emplace_back(numbers.begin(), numbers.end());
    if (index_->closing() > 0) write_panel();  // the last row of a head, or of a layer
    index_->next();
  }

  void end() override {}

 private:
  /// "weights, layer 3, head 0: row = query (the token that asks), column = key (the token that is asked)"
  [[nodiscard]] std::string heading() const {
    auto text = description_.what;
    for (std::size_t axis = 0; axis + 1 < index_->depth(); ++axis)
      text += fmt::format(", {} {}", description_.axes[axis].name,
                          description_.axes[axis].values[static_cast<std::size_t>((*index_)[axis])]);
    if (last_is_tokens_) return text + ": row = query (the token that asks), column = key (the token that is asked)";
    return text + fmt::format(": row = {}, column = {}", description_.axes[index_->depth() - 1].name,
                              description_.axes.back().name);
  }

  void write_heading() {
    sink_.write(fmt::format("{}{}\n", first_ ? "" : "\n", heading()));
    first_ = false;
  }

  /// A row that is no row over tokens: it is told by its largest numbers, at once.
  void write_numbers(std::span<const float> numbers) {
    if (index_->opening() > 0) write_heading();
    const auto position = static_cast<std::size_t>((*index_)[index_->depth() - 1]);
    sink_.write(fmt::format("{}{}\n", row_label(position), largest(numbers)));
    index_->next();
  }

  void write_panel() {
    write_heading();
    const auto cell = cell_width();
    const auto margin = 5 + label_width_;
    const auto width = margin + rows_.front().size() * (cell + 1);
    if (static_cast<std::int64_t>(width) <= options_.width)
      write_grid(cell);
    else
      for (std::size_t t = 0; t < rows_.size(); ++t) sink_.write(fmt::format("{}{}\n", row_label(t), strongest(t)));
    rows_.clear();
  }

  [[nodiscard]] std::string row_label(std::size_t t) const {
    return fmt::format("{:>4} {}", t, pad_right(fit(labels_[t], label_width_), label_width_));
  }

  /// Wide enough for the numbers, and for the labels on top as far as there is room.
  [[nodiscard]] std::size_t cell_width() const {
    std::size_t width = 4;
    for (const auto& row : rows_)
      for (const auto number : row)
        if (!std::isnan(number)) width = std::max(width, fmt::formatted_size("{:.2f}", number));
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(options_.width, 0));
    while (last_is_tokens_ && width < std::min(label_width_, widest_cell) &&
           5 + label_width_ + rows_.front().size() * (width + 2) <= room)
      ++width;
    return width;
  }

  void write_grid(std::size_t cell) {
    const ColorScale scale = color_scale();
    auto positions = std::string(5 + label_width_, ' ');
    auto tokens = positions;
    for (std::size_t key = 0; key < labels_.size(); ++key) {
      positions += fmt::format(" {}", pad_left(fmt::format("{}", key), cell));
      tokens += fmt::format(" {}", pad_left(fit(labels_[key], cell), cell));
    }
    sink_.write(positions + "\n" + tokens + "\n");
    for (std::size_t t = 0; t < rows_.size(); ++t) {
      auto line = row_label(t);
      const auto visible = description_.causal ? std::min(t + 1, rows_[t].size()) : rows_[t].size();
      for (std::size_t key = 0; key < visible; ++key) {
        const auto number = rows_[t][key];
        const auto text = fmt::format(" {}", pad_left(fmt::format("{:.2f}", number), cell));
        line += options_.color ? painted(text, number, scale) : text;
      }
      sink_.write(line + "\n");
    }
  }

  [[nodiscard]] ColorScale color_scale() const {
    double limit = 0.0;
    bool negative = false;
    for (const auto& row : rows_)
      for (const auto number : row) {
        if (!std::isfinite(number)) continue;
        limit = std::max(limit, std::abs(static_cast<double>(number)));
        negative = negative || number < 0.0F;
      }
    return {negative ? ColorScale::Kind::diverging : ColorScale::Kind::sequential, ColorScale::Mapping::linear, limit};
  }

  /// Places of the row's numbers, the largest first; `magnitude` looks past the sign.
  [[nodiscard]] std::vector<std::size_t> ranked(std::span<const float> row, bool magnitude) const {
    const auto count = row.size();
    std::vector<std::size_t> places(count);
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto named = std::min(named_per_row, count);
    std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(named), places.end(),
                      [&](std::size_t a, std::size_t b) {
                        const auto of = [&](std::size_t i) {  // NaN has no order of its own: last
                          if (std::isnan(row[i])) return -std::numeric_limits<float>::infinity();
                          return magnitude ? std::abs(row[i]) : row[i];
                        };
                        return of(a) > of(b) || (of(a) == of(b) && a < b);
                      });
    places.resize(named);
    return places;
  }

  /// "  0.87 5 ·ball  0.04 4 ·the ..."
  [[nodiscard]] std::string strongest(std::size_t t) const {
    std::string line;
    const auto visible = description_.causal ? std::min(t + 1, rows_[t].size()) : rows_[t].size();
    for (const auto key : ranked(std::span(rows_[t]).first(visible), false)) {
      const auto entry = fmt::format("{:.2f} {}:{}", rows_[t][key], key, fit(labels_[key], widest_cell));
      line += "  " + pad_right(entry, 7 + widest_cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  /// "  norm 11.2  largest  17: 4.31  99: -3.20 ...", tokens of the vocabulary with their text: "17 ·dog: 4.31"
  [[nodiscard]] std::string largest(std::span<const float> row) const {
    const auto square = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    auto line = fmt::format("  norm {:9.3f}  largest", std::sqrt(square));
    const bool logits = description_.axes.back().name == "vocabulary";
    const bool has_text = logits && description_.text_of != nullptr;
    for (const auto place : ranked(row, !logits)) {
      const auto id = static_cast<TokenId>(place);
      line += fmt::format("  {}", place);
      if (has_text) line += fmt::format(" {}", fit(label_of({id, description_.text_of(id)}), widest_label));
      line += fmt::format(": {:.3f}", row[place]);
    }
    return line;
  }

  Sink& sink_;
  TextOptions options_;
  TableDescription description_;
  std::optional<RowIndex> index_;
  std::vector<std::string> labels_;
  std::size_t label_width_ = 0;
  bool last_is_tokens_ = false;
  std::vector<std::vector<float>> rows_;  // of the head at hand
  bool first_ = true;
};

}  // namespace

std::unique_ptr<TableWriter> text_writer(Sink& sink, const TextOptions& options) {
  return std::make_unique<TextWriter>(sink, options);
}

}  // namespace qkv
