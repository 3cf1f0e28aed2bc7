#include "support/torch_file.hpp"

#include "support/gguf_file.hpp"

namespace qkv::test {
namespace {

template <typename Number>
std::string raw_as(std::int64_t value) {
  return raw(static_cast<Number>(value));
}
std::string raw16(std::int64_t value) { return raw_as<std::uint16_t>(value); }
std::string raw32(std::int64_t value) { return raw_as<std::uint32_t>(value); }
std::string raw64(std::int64_t value) { return raw_as<std::uint64_t>(value); }

std::int64_t length(const std::string& text) { return static_cast<std::int64_t>(text.size()); }

std::string local_entry(const ZipPart& part) {
  const auto& name = part.own_name.empty() ? part.name : part.own_name;
  return raw32(0x04034B50) + raw16(0) + raw16(part.flags) + raw16(part.method) + std::string(16, '\0') +
         raw16(length(name)) + raw16(0) + name + part.bytes;
}

std::string directory_entry(const ZipPart& part, std::int64_t place, bool zip64) {
  const auto size = part.size < 0 ? length(part.bytes) : part.size;
  const auto at = part.place < 0 ? place : part.place;
  const auto extra = zip64 ? raw16(1) + raw16(24) + raw64(size) + raw64(size) + raw64(at) : std::string();
  const auto or_none = [&](std::int64_t value) { return zip64 ? raw32(-1) : raw32(value); };
  return raw32(0x02014B50) + raw32(0) + raw16(part.flags) + raw16(part.method) + std::string(8, '\0') + or_none(size) +
         or_none(size) + raw16(length(part.name)) + raw16(length(extra)) + raw16(0) + std::string(8, '\0') +
         or_none(at) + part.name + extra;
}

}  // namespace

std::string zip_file(const std::vector<ZipPart>& parts, bool zip64) {
  std::string bytes;
  std::string directory;
  for (const auto& part : parts) {
    directory += directory_entry(part, length(bytes), zip64);
    bytes += local_entry(part);
  }
  const auto count = static_cast<std::int64_t>(parts.size());
  const auto place = length(bytes);
  bytes += directory;
  const auto record = length(bytes);
  if (zip64) {
    bytes += raw32(0x06064B50) + raw64(44) + raw16(0) + raw16(0) + raw32(0) + raw32(0) + raw64(count) + raw64(count) +
             raw64(length(directory)) + raw64(place);
    bytes += raw32(0x07064B50) + raw32(0) + raw64(record) + raw32(1);
  }
  const auto or_none = [&](std::int64_t value) { return zip64 ? raw32(-1) : raw32(value); };
  return bytes + raw32(0x06054B50) + raw16(0) + raw16(0) + raw16(count) + raw16(count) + or_none(length(directory)) +
         or_none(place) + raw16(0);
}

namespace pickled {

std::string text(const std::string& text) { return "X" + raw32(length(text)) + text; }

std::string integer(std::int64_t value) {
  const bool fits = value >= -(std::int64_t{1} << 31) && value < std::int64_t{1} << 31;
  return fits ? "J" + raw_as<std::int32_t>(value) : "\x8A\x08" + raw64(value);
}

std::string tuple(const std::vector<std::string>& items) {
  std::string bytes = "(";
  for (const auto& item : items) bytes += item;
  return bytes + "t";
}

std::string global(const std::string& module, const std::string& name) { return "c" + module + "\n" + name + "\n"; }

std::string storage(const std::string& type, const std::string& name, std::int64_t count) {
  return tuple({text("storage"), global("torch", type), text(name), text("cpu"), integer(count)}) + "Q";
}

std::string tensor(const std::string& storage, std::int64_t offset, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides) {
  const auto integers = [](const std::vector<std::int64_t>& values) {
    std::vector<std::string> items;
    for (const auto value : values) items.push_back(integer(value));
    return tuple(items);
  };
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple({storage, integer(offset), integers(shape), integers(strides), "\x89",
                global("collections", "OrderedDict") + ")R"}) +
         "R";
}

std::string dictionary(const std::vector<std::string>& items) {
  auto bytes = begin + empty_dictionary + "(";
  for (const auto& item : items) bytes += item;
  return bytes + "u" + end;
}

}  // namespace pickled
}  // namespace qkv::test
