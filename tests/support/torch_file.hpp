#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace qkv::test {

/// One entry of a zip archive; what the headers say may differ from what is there.
struct ZipPart {
  std::string name;
  std::string bytes;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::int64_t size = -1;   // as the directory says; -1: what it is
  std::int64_t place = -1;  // of its header, as the directory says; -1: where it is
  std::string own_name{};   // in its own header; empty: the same
};

/// A zip archive of stored entries; with the records of zip64 when asked for.
[[nodiscard]] std::string zip_file(const std::vector<ZipPart>& parts, bool zip64 = false);

/// Pieces of pickles, protocol 2.
namespace pickled {

inline const std::string begin = "\x80\x02";
inline const std::string end = ".";
inline const std::string empty_dictionary = "}";
inline const std::string set_item = "s";

[[nodiscard]] std::string text(const std::string& text);
[[nodiscard]] std::string integer(std::int64_t value);
[[nodiscard]] std::string tuple(const std::vector<std::string>& items);
[[nodiscard]] std::string global(const std::string& module, const std::string& name);
[[nodiscard]] std::string storage(const std::string& type, const std::string& name, std::int64_t count);
/// A call of torch._utils._rebuild_tensor_v2.
[[nodiscard]] std::string tensor(const std::string& storage, std::int64_t offset,
                                 const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides);
/// A whole pickle of one dictionary with these items, keys and values by turns.
[[nodiscard]] std::string dictionary(const std::vector<std::string>& items);

}  // namespace pickled
}  // namespace qkv::test
