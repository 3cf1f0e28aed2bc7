#include "qkv/io/formats/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <utility>

#include "qkv/core/utf8.hpp"
#include "qkv/io/byte_cursor.hpp"
#include "qkv/io/formats/fail.hpp"

namespace qkv {
namespace {

using nlohmann::json;

constexpr std::string_view magic = "GGUF";
constexpr std::size_t longest_name = 65535;
constexpr std::uint32_t most_dimensions = 4;
constexpr std::uint32_t default_alignment = 32;
constexpr std::uint32_t most_alignment = 1U << 20U;
constexpr std::uint64_t longest_list = 4096;  // of numbers for each layer

/// Bytes of a value, by its type; 0 for strings and arrays, whose length stands with them.
constexpr std::array<std::size_t, 13> value_sizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::array<std::string_view, 13> type_names{"u8",      "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                      "boolean", "string", "array", "u64", "i64", "f64"};

/// Types of tensors, by their numbers in the file.
constexpr std::array<std::pair<std::uint32_t, DType>, 18> tensor_types{{{0, DType::f32},
                                                                        {1, DType::f16},
                                                                        {2, DType::q4_0},
                                                                        {3, DType::q4_1},
                                                                        {6, DType::q5_0},
                                                                        {7, DType::q5_1},
                                                                        {8, DType::q8_0},
                                                                        {10, DType::q2_k},
                                                                        {11, DType::q3_k},
                                                                        {12, DType::q4_k},
                                                                        {13, DType::q5_k},
                                                                        {14, DType::q6_k},
                                                                        {24, DType::i8},
                                                                        {25, DType::i16},
                                                                        {26, DType::i32},
                                                                        {27, DType::i64},
                                                                        {28, DType::f64},
                                                                        {30, DType::bf16}}};

std::string shown(std::string_view name) { return escape_controls(name.substr(0, 100)); }

/// A key or the name of a tensor.
std::string read_name(ByteCursor& cursor, const std::string& what) {
  const auto length = cursor.number<std::uint64_t>(what);
  if (length == 0 || length > longest_name)
    fail(cursor.where(),
         fmt::format("{}: expected a name of 1 to {} bytes, found one of {}", what, longest_name, length));
  const auto name = cursor.text(length, what);
  if (!is_valid_utf8(name))
    fail(cursor.where(), fmt::format("{}: expected a name in UTF-8, found '{}'", what, shown(name)));
  return std::string(name);
}

GgufType read_type(ByteCursor& cursor, const std::string& what) {
  const auto type = cursor.number<std::uint32_t>(what);
  if (type >= value_sizes.size())
    fail(cursor.where(), fmt::format("{}: expected a type from 0 to 12, found {}", what, type));
  return static_cast<GgufType>(type);
}

std::size_t size_of_type(GgufType type) { return value_sizes[static_cast<std::size_t>(type)]; }
std::string_view name_of_type(GgufType type) { return type_names[static_cast<std::size_t>(type)]; }

/// Walks over `count` values of one type, so that what lies between is known to be there.
std::span<const std::byte> walk(ByteCursor& cursor, GgufType type, std::uint64_t count, const std::string& what) {
  if (type != GgufType::string) {
    const auto size = size_of_type(type);
    if (count > cursor.left() / size)
      fail(cursor.where(), fmt::format("{}: expected {} values of {}, found {} bytes to the end of the file", what,
                                       count, name_of_type(type), cursor.left()));
    return cursor.take(count * size, what);
  }
  auto all = cursor;  // from before the first string on
  const auto begin = cursor.position();
  for (std::uint64_t i = 0; i < count; ++i) (void)cursor.text(cursor.number<std::uint64_t>(what), what);
  return all.take(cursor.position() - begin, what);
}

GgufValue read_value(ByteCursor& cursor, const std::string& what) {
  GgufValue value;
  value.type = read_type(cursor, what);
  if (value.type == GgufType::array) {
    value.is_array = true;
    value.type = read_type(cursor, what);
    if (value.type == GgufType::array)
      fail(cursor.where(), fmt::format("{}: expected an array of plain values, found an array of arrays", what));
    value.count = cursor.number<std::uint64_t>(what);
  }
  value.bytes = walk(cursor, value.type, value.count, what);
  return value;
}

/// One element as JSON, from a cursor that stands before it.
json read_json(ByteCursor& cursor, GgufType type, const std::string& what) {
  switch (type) {
    case GgufType::u8:
      return cursor.number<std::uint8_t>(what);
    case GgufType::i8:
      return cursor.number<std::int8_t>(what);
    case GgufType::u16:
      return cursor.number<std::uint16_t>(what);
    case GgufType::i16:
      return cursor.number<std::int16_t>(what);
    case GgufType::u32:
      return cursor.number<std::uint32_t>(what);
    case GgufType::i32:
      return cursor.number<std::int32_t>(what);
    case GgufType::f32:
      return cursor.number<float>(what);
    case GgufType::u64:
      return cursor.number<std::uint64_t>(what);
    case GgufType::i64:
      return cursor.number<std::int64_t>(what);
    case GgufType::f64:
      return cursor.number<double>(what);
    case GgufType::string:
      return std::string(cursor.text(cursor.number<std::uint64_t>(what), what));
    default:
      break;
  }
  const auto flag = cursor.number<std::uint8_t>(what);
  if (flag > 1) fail(cursor.where(), fmt::format("{}: expected a boolean of 0 or 1, found {}", what, flag));
  return flag == 1;
}

std::string key_text(std::string_view key) { return fmt::format("key '{}'", shown(key)); }

json value_json(const std::string& where, std::string_view key, const GgufValue& value) {
  const auto what = key_text(key);
  if (value.count > longest_list) return fmt::format("an array of {} values", value.count);
  ByteCursor cursor(where, value.bytes);
  if (!value.is_array) return read_json(cursor, value.type, what);
  auto list = json::array();
  for (std::uint64_t i = 0; i < value.count; ++i) list.push_back(read_json(cursor, value.type, what));
  return list;
}

struct TensorEntry {
  StoredTensor tensor;
  std::uint64_t offset;
  std::uint64_t size;
};

Shape read_shape(ByteCursor& cursor, const std::string& what) {
  const auto n_dimensions = cursor.number<std::uint32_t>(what);
  if (n_dimensions == 0 || n_dimensions > most_dimensions)
    fail(cursor.where(), fmt::format("{}: expected 1 to {} extents, found {}", what, most_dimensions, n_dimensions));
  Shape shape;
  for (std::uint32_t i = 0; i < n_dimensions; ++i) {
    const auto extent = cursor.number<std::uint64_t>(what);
    if (extent == 0 || extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail(cursor.where(), fmt::format("{}: expected extents from 1 on, found {}", what, extent));
    shape.insert(shape.begin(), static_cast<std::int64_t>(extent));  // the file gives the fastest first
  }
  return shape;
}

DType read_dtype(ByteCursor& cursor, const std::string& what) {
  const auto number = cursor.number<std::uint32_t>(what);
  std::string names;
  for (const auto& [known, dtype] : tensor_types) {
    if (known == number) return dtype;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", known, name_of(dtype));
  }
  fail(cursor.where(), fmt::format("{}: expected a type of {}, found {}", what, names, number));
}

TensorEntry read_entry(ByteCursor& cursor, std::uint64_t index) {
  auto name = read_name(cursor, fmt::format("name of tensor {}", index));
  const auto what = fmt::format("tensor '{}'", shown(name));
  auto shape = read_shape(cursor, what);
  const auto dtype = read_dtype(cursor, what);
  const auto offset = cursor.number<std::uint64_t>(what);
  const auto length = static_cast<std::int64_t>(block_length(dtype));
  if (shape.back() % length != 0)
    fail(cursor.where(), fmt::format("{}: expected rows of a multiple of {} numbers for {}, found {}", what, length,
                                     name_of(dtype), shape.back()));
  const auto count = element_count(shape);
  const auto size = count ? byte_count(dtype, *count) : std::nullopt;
  if (!size)
    fail(cursor.where(),
         fmt::format("{}: expected extents whose product fits 64 bits, found {}", what, to_string(shape)));
  return {{std::move(name), dtype, std::move(shape), {}, cursor.where()}, offset, static_cast<std::uint64_t>(*size)};
}

std::uint64_t aligned(std::uint64_t position, std::uint32_t alignment) {
  return (position + alignment - 1) / alignment * alignment;
}

/// Gives each tensor its bytes. They follow each other in the data, each beginning at the next multiple of the
/// alignment; anything else would be two tensors on one place, or numbers that belong to none.
void place(std::vector<TensorEntry>& entries, std::span<const std::byte> data, std::uint32_t alignment,
           const std::string& where) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::uint64_t end = 0;
  for (auto& [tensor, offset, size] : entries) {
    const auto what = fmt::format("tensor '{}'", shown(tensor.name));
    if (offset % alignment != 0)
      fail(where, fmt::format("{}: expected an offset that is a multiple of {}, found {}", what, alignment, offset));
    if (offset > data.size() || size > data.size() - offset)
      fail(where, fmt::format("{}: expected {} bytes from byte {} of the data on, found data of {} bytes (the file is "
                              "cut short, or the offset is wrong)",
                              what, size, offset, data.size()));
    const auto expected = aligned(end, alignment);
    if (offset != expected)
      fail(where, fmt::format("{}: expected to begin at byte {} of the data, found {} ({})", what, expected, offset,
                              offset < expected ? "overlaps another" : "a gap"));
    tensor.bytes = data.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    end = offset + size;
  }
  if (data.size() > aligned(end, alignment))
    fail(where, fmt::format("expected {} bytes of data, as the tensors say, found {}", end, data.size()));
}

std::uint32_t read_version(ByteCursor& cursor) {
  if (cursor.left() < magic.size() || cursor.text(magic.size(), "magic") != magic)
    fail(cursor.where(), "expected a GGUF file, which begins with 'GGUF'");
  const auto version = cursor.number<std::uint32_t>("version");
  if (version == 2 || version == 3) return version;
  const bool turned = version != 0 && (version & 0xFFFFU) == 0;
  fail(cursor.where(), fmt::format("version: expected GGUF version 2 or 3, found {}",
                                   turned ? "a big-endian file" : fmt::format("{}", version)));
}

}  // namespace

bool GgufFile::recognises(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(magic.size(), '\0');
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == magic;
}

std::shared_ptr<const GgufFile> GgufFile::open(const std::filesystem::path& path) {
  return std::shared_ptr<const GgufFile>(new GgufFile(path));
}

GgufFile::GgufFile(const std::filesystem::path& path) : file_(path), where_(path.string()) {
  ByteCursor cursor(where_, file_.bytes());
  version_ = read_version(cursor);
  const auto n_tensors = cursor.number<std::uint64_t>("number of tensors");
  const auto n_keys = cursor.number<std::uint64_t>("number of keys");
  for (std::uint64_t i = 0; i < n_keys; ++i) {  // whatever the number says, the file ends at some time
    auto key = read_name(cursor, fmt::format("key {} of {}", i, n_keys));
    const auto what = key_text(key);
    const auto value = read_value(cursor, what);
    if (!metadata_.emplace(std::move(key), value).second)
      fail(where_, fmt::format("{}: expected once, found twice", what));
  }
  std::vector<TensorEntry> entries;
  for (std::uint64_t i = 0; i < n_tensors; ++i) entries.push_back(read_entry(cursor, i));

  auto alignment = default_alignment;
  if (const auto found = metadata_.find("general.alignment"); found != metadata_.end()) {
    const auto wanted = value_json(where_, found->first, found->second);
    const bool fits =
        found->second.type == GgufType::u32 && !found->second.is_array && wanted >= 8 && wanted <= most_alignment;
    alignment = fits ? wanted.get<std::uint32_t>() : 0;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      fail(where_, fmt::format("key 'general.alignment': expected a power of two from 8 to {}, found {}",
                               most_alignment, wanted.dump(-1, ' ', false, json::error_handler_t::replace)));
  }
  const auto begin = std::min<std::uint64_t>(aligned(cursor.position(), alignment), file_.bytes().size());
  place(entries, file_.bytes().subspan(static_cast<std::size_t>(begin)), alignment, where_);
  for (auto& entry : entries) tensors_.push_back(std::move(entry.tensor));
  sort_by_name(tensors_);
}

json GgufFile::json() const {
  auto object = nlohmann::json::object();
  for (const auto& [key, value] : metadata_) object[key] = value_json(where_, key, value);
  return object;
}

const GgufValue& GgufFile::array(std::string_view key, std::string_view expected) const {
  const auto found = metadata_.find(key);
  const auto refuse = [&](const std::string& what) {
    fail(where_, fmt::format("key '{}': expected {}, found {}", key, expected, what));
  };
  if (found == metadata_.end()) refuse("nothing");
  if (!found->second.is_array) refuse(fmt::format("one {}", name_of_type(found->second.type)));
  return found->second;
}

std::vector<std::string_view> GgufFile::strings(std::string_view key) const {
  const auto& value = array(key, "an array of strings");
  if (value.type != GgufType::string)
    fail(where_, fmt::format("key '{}': expected an array of strings, found one of {}", key, name_of_type(value.type)));
  ByteCursor cursor(where_, value.bytes);
  std::vector<std::string_view> all;
  for (std::uint64_t i = 0; i < value.count; ++i) all.push_back(cursor.text(cursor.number<std::uint64_t>(key), key));
  return all;
}

std::vector<float> GgufFile::floats(std::string_view key) const {
  const auto& value = array(key, "an array of f32");
  if (value.type != GgufType::f32)
    fail(where_, fmt::format("key '{}': expected an array of f32, found one of {}", key, name_of_type(value.type)));
  std::vector<float> all(static_cast<std::size_t>(value.count));
  std::copy(value.bytes.begin(), value.bytes.end(), std::as_writable_bytes(std::span(all)).begin());
  return all;
}

std::vector<std::int64_t> GgufFile::integers(std::string_view key) const {
  const auto& value = array(key, "an array of integers");
  ByteCursor cursor(where_, value.bytes);
  std::vector<std::int64_t> all;
  for (std::uint64_t i = 0; i < value.count; ++i) {
    const auto element = read_json(cursor, value.type, key_text(key));
    if (!element.is_number_integer() ||
        (element.is_number_unsigned() && element > std::numeric_limits<std::int64_t>::max()))
      fail(where_,
           fmt::format("key '{}': expected an array of integers, found one of {}", key, name_of_type(value.type)));
    all.push_back(element.get<std::int64_t>());
  }
  return all;
}

}  // namespace qkv
