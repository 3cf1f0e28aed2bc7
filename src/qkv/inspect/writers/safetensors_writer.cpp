#include "qkv/inspect/writers/safetensors_writer.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "qkv/core/utf8.hpp"
#include "qkv/inspect/writers/raw_numbers.hpp"

namespace qkv {
namespace {

using nlohmann::ordered_json;

std::string header_of(const TableDescription& description) {
  const auto shape = description.shape();
  const auto ids = static_cast<std::int64_t>(description.tokens.size()) * 8;
  const auto numbers = element_count(shape).value_or(0) * 4;
  auto axes = ordered_json::object();
  for (const auto& axis : description.axes) axes[axis.name] = axis.values;
  auto texts = ordered_json::array();
  for (const auto& token : description.tokens) texts.push_back(replace_invalid_utf8(token.text));
  const ordered_json header{
      {"__metadata__",
       {{"model", replace_invalid_utf8(description.model)}, {"axes", axes.dump()}, {"tokens", texts.dump()}}},
      {"input_ids", {{"dtype", "I64"}, {"shape", {description.tokens.size()}}, {"data_offsets", {0, ids}}}},
      {description.what, {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {ids, ids + numbers}}}}};
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the numbers are aligned
  return text;
}

/// Little-endian, as the format wants it.
std::string eight_bytes(std::uint64_t number) {
  std::string bytes;
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xFFU);
  return bytes;
}

class SafetensorsWriter : public TableWriter {
 public:
  explicit SafetensorsWriter(Sink& sink) : sink_(sink) {}

  void begin(const TableDescription& description) override {
    const auto header = header_of(description);
    sink_.write(eight_bytes(header.size()));
    sink_.write(header);
    for (const auto& token : description.tokens) sink_.write(eight_bytes(static_cast<std::uint64_t>(token.id)));
  }
  void row(std::span<const float> numbers) override { sink_.write(raw_numbers(numbers)); }
  void end() override {}

 private:
  Sink& sink_;
};

}  // namespace

std::unique_ptr<TableWriter> safetensors_writer(Sink& sink) { return std::make_unique<SafetensorsWriter>(sink); }

}  // namespace qkv
