#include "qkv/inspect/writers/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "qkv/inspect/writers/json_text.hpp"
#include "qkv/inspect/writers/row_index.hpp"

namespace qkv {
namespace {

using nlohmann::ordered_json;

/// Everything but the values.
ordered_json head_of(const TableDescription& description) {
  ordered_json object{{"schema", "qkv.attention/1"}};
  put_text(object, "model", description.model);
  object["what"] = description.what;
  object["axes"] = ordered_json::array();
  object["tokens"] = ordered_json::array();
  for (const auto& axis : description.axes) object["axes"].push_back(axis.name);
  for (const auto& token : description.tokens) {
    ordered_json one{{"id", token.id}};
    put_text(one, "text", token.text);
    object["tokens"].push_back(std::move(one));
  }
  for (const auto* name : {"layer", "head"})
    if (const auto* axis = description.find_axis(name)) object[std::string(name) + "s"] = axis->values;
  object["shape"] = description.shape();
  return object;
}

class JsonWriter : public TableWriter {
 public:
  explicit JsonWriter(Sink& sink) : sink_(sink) {}

  void begin(const TableDescription& description) override {
    index_.emplace(description.axes);
    auto head = head_of(description).dump();
    head.pop_back();  // the object stays open for its values
    sink_.write(head + ",\"values\":");
  }

  void row(std::span<const float> numbers) override {
    fmt::memory_buffer text;
    auto out = std::back_inserter(text);
    fmt::format_to(out, "{}{}[", first_ ? "" : ",", std::string(index_->opening(), '['));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0) *out++ = ',';
      if (std::isfinite(numbers[i]))
        fmt::format_to(out, "{}", numbers[i]);
      else
        fmt::format_to(out, "null");
    }
    fmt::format_to(out, "]{}", std::string(index_->closing(), ']'));
    sink_.write({text.data(), text.size()});
    first_ = false;
    index_->next();
  }

  void end() override { sink_.write("}\n"); }

 private:
  Sink& sink_;
  std::optional<RowIndex> index_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<TableWriter> json_writer(Sink& sink) { return std::make_unique<JsonWriter>(sink); }

}  // namespace qkv
