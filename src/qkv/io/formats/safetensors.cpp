#include "qkv/io/formats/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "qkv/io/formats/fail.hpp"
#include "qkv/io/json_reader.hpp"
#include "qkv/io/mapped_file.hpp"
#include "qkv/io/shard_index.hpp"

namespace qkv {
namespace {

constexpr std::size_t length_size = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the limit that the format's own library sets

class Safetensors : public WeightSource {
 public:
  Safetensors(std::vector<MappedFile> files, std::vector<StoredTensor> tensors)
      : files_(std::move(files)), tensors_(std::move(tensors)) {}
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void release(const StoredTensor& tensor) const override { release_pages(tensor.bytes); }

 private:
  std::vector<MappedFile> files_;
  std::vector<StoredTensor> tensors_;
};

/// The JSON text of the header, its length checked against the file.
std::string_view header_text(const std::string& file, std::span<const std::byte> bytes) {
  if (bytes.size() < length_size)
    fail(file, fmt::format("expected at least {} bytes of safetensors, found {}", length_size, bytes.size()));
  std::array<unsigned char, length_size> raw{};
  std::memcpy(raw.data(), bytes.data(), length_size);
  std::uint64_t length = 0;
  for (std::size_t i = length_size; i-- > 0;) length = length << 8U | raw[i];
  const auto room = bytes.size() - length_size;
  if (length > longest_header || length > room)
    fail(file, fmt::format("header length: expected at most {} bytes (the file ends there), found {}",
                           std::min<std::uint64_t>(room, longest_header), length));
  return {reinterpret_cast<const char*>(bytes.data()) + length_size, static_cast<std::size_t>(length)};
}

DType read_dtype(const JsonReader& entry) {
  auto name = entry.text("dtype");
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto dtype = dtype_from_name(name);
  if (!dtype) entry.fail("dtype", "one of F32, F16, BF16, F64, I64, I32, I16, I8, U8, BOOL");
  return *dtype;
}

/// One entry of the header, its byte count computed from dtype and shape and compared with its offsets.
StoredTensor read_entry(const std::string& file, const std::string& name, const JsonReader& entry,
                        std::span<const std::byte> data) {
  const auto dtype = read_dtype(entry);
  if (!entry.raw("shape").is_array()) entry.fail("shape", "an array of extents");
  const auto shape = entry.integers("shape", {.min = 0});
  const auto offsets = entry.integers("data_offsets", {.min = 0});
  const auto size = static_cast<std::int64_t>(data.size());
  if (offsets.size() == 2 && offsets[1] > size)
    fail(file, fmt::format("tensor '{}': expected data up to byte {}, found only {} bytes (the file is cut short)",
                           name, offsets[1], size));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    entry.fail("data_offsets", fmt::format("[begin, end] within the {} bytes of data", size));
  const auto count = element_count(shape);
  const auto expected = count ? byte_count(dtype, *count) : std::nullopt;
  if (!expected) entry.fail("shape", "extents whose product fits 64 bits");
  if (*expected != offsets[1] - offsets[0])
    entry.fail("data_offsets", fmt::format("{} bytes for {} {}", *expected, name_of(dtype), to_string(shape)));
  return {name, dtype, shape, data.subspan(static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(*expected)),
          file};
}

/// The format allows neither gaps nor overlaps: the tensors, put in order, fill the data.
void check_coverage(const std::string& file, std::vector<StoredTensor> tensors, std::span<const std::byte> data) {
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
  });
  std::size_t end = 0;
  for (const auto& tensor : tensors) {
    const auto begin = static_cast<std::size_t>(tensor.bytes.data() - data.data());
    if (begin != end)
      fail(file, fmt::format("tensor '{}': expected to begin at byte {} of the data, found {} ({})", tensor.name, end,
                             begin, begin < end ? "overlaps another" : "a gap"));
    end = begin + tensor.bytes.size();
  }
  if (end != data.size())
    fail(file, fmt::format("expected {} bytes of data, as the header says, found {}", end, data.size()));
}

std::vector<StoredTensor> read_file(const std::string& file, std::span<const std::byte> bytes) {
  const auto text = header_text(file, bytes);
  const auto data = bytes.subspan(length_size + text.size());
  const JsonReader header(file, parse_json(text, fmt::format("{}: header", file)));
  std::vector<StoredTensor> tensors;
  for (const auto& name : header.unread())
    if (name != "__metadata__") tensors.push_back(read_entry(file, name, header.object(name), data));
  check_coverage(file, tensors, data);
  return tensors;
}

}  // namespace

std::unique_ptr<WeightSource> open_safetensors(const std::vector<std::filesystem::path>& files) {
  std::vector<MappedFile> mapped;
  std::vector<StoredTensor> tensors;
  for (const auto& path : files) {
    mapped.emplace_back(path);
    auto more = read_file(path.string(), mapped.back().bytes());
    std::move(more.begin(), more.end(), std::back_inserter(tensors));
  }
  sort_by_name(tensors);
  return std::make_unique<Safetensors>(std::move(mapped), std::move(tensors));
}

WeightFormat safetensors_format() {
  return {"safetensors",
          [](const std::filesystem::path& directory) { return has_file_or_shards(directory, "model.safetensors"); },
          [](const std::filesystem::path& directory) {
            return open_file_or_shards(directory, "model.safetensors", open_safetensors);
          }};
}

}  // namespace qkv
