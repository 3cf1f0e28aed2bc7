#include "qkv/io/formats/gguf_metadata.hpp"

#include <bit>

namespace qkv {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers, written as they lie");

template <typename Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& bytes, const std::string& key, const GgufValue& value) {
  append(bytes, std::uint64_t{key.size()});
  bytes += key;
  if (value.is_array) append(bytes, GgufType::array);
  append(bytes, value.type);
  if (value.is_array) append(bytes, value.count);
  bytes.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
}

}  // namespace

std::string gguf_metadata_file(const GgufFile& file, std::string_view prefix) {
  std::string keys;
  std::uint64_t count = 0;
  for (const auto& [key, value] : file.metadata()) {
    if (std::string_view(key).substr(0, prefix.size()) != prefix) continue;
    append(keys, key, value);
    ++count;
  }
  std::string bytes = "GGUF";
  append(bytes, file.version());
  append(bytes, std::uint64_t{0});  // tensors
  append(bytes, count);
  return bytes + keys;
}

}  // namespace qkv
