#include "qkv/io/stored_zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/io/byte_cursor.hpp"

namespace qkv {
namespace {

// The records of the format, by the numbers that its specification (APPNOTE) gives them.
constexpr std::uint32_t local_header = 0x04034B50;
constexpr std::uint32_t central_header = 0x02014B50;
constexpr std::uint32_t end_record = 0x06054B50;
constexpr std::uint32_t end_record_64 = 0x06064B50;
constexpr std::uint32_t locator_64 = 0x07064B50;
constexpr std::size_t end_record_size = 22;
constexpr std::size_t locator_size = 20;
constexpr std::uint16_t extra_64 = 1;              // the extra field that holds what does not fit 32 bits
constexpr std::uint32_t in_extra_64 = 0xFFFFFFFF;  // stands in place of such a number
constexpr std::uint16_t encrypted = 1;
constexpr std::uint16_t stored = 0;

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> archive, const std::string& where) : archive_(archive), where_(where) {}

  ZipEntries run() {
    const auto directory = find_directory();
    ByteCursor cursor(where_, archive_.subspan(0, directory.end), directory.begin);
    for (std::uint64_t i = 0; i < directory.n_entries; ++i) read_entry(cursor);
    if (cursor.left() > 0) fail("zip directory", fmt::format("{} entries", directory.n_entries), "more behind them");
    check_overlaps();
    return std::move(entries_);
  }

 private:
  struct Directory {
    std::size_t begin;
    std::size_t end;
    std::uint64_t n_entries;
  };
  struct Extent {
    std::size_t begin;
    std::size_t end;
    std::string name;
  };

  [[noreturn]] void fail(std::string_view what, std::string_view expected, std::string_view found) const {
    throw Error(ErrorCode::model, fmt::format("{}: {}: expected {}, found {}", where_, what, expected, found));
  }

  void expect(ByteCursor& cursor, std::uint32_t record, std::string_view what) const {
    const auto found = cursor.number<std::uint32_t>(what);
    if (found != record) fail(what, fmt::format("{:#010x}", record), fmt::format("{:#010x}", found));
  }

  /// From the record at the end of the archive, or the larger one that it stands for.
  [[nodiscard]] Directory find_directory() const {
    const auto size = archive_.size();
    const auto at_end = [&](std::size_t from_end, std::uint32_t record) {
      if (size < from_end) return false;
      return ByteCursor(where_, archive_, size - from_end).number<std::uint32_t>("end of zip archive") == record;
    };
    if (!at_end(end_record_size, end_record))
      fail("end of zip archive", "the record that ends it",
           "other bytes (the file is cut short, or is no zip archive)");
    if (at_end(end_record_size + locator_size, locator_64)) return find_directory_64();
    ByteCursor cursor(where_, archive_, size - end_record_size + 8);
    (void)cursor.number<std::uint16_t>("entries");
    const auto n_entries = cursor.number<std::uint16_t>("entries");
    const auto length = cursor.number<std::uint32_t>("size of the zip directory");
    const auto begin = cursor.number<std::uint32_t>("place of the zip directory");
    return checked(begin, length, n_entries, size - end_record_size);
  }

  [[nodiscard]] Directory find_directory_64() const {
    const auto locator = archive_.size() - end_record_size - locator_size;
    const auto place = ByteCursor(where_, archive_, locator + 8).number<std::uint64_t>("place of the zip64 record");
    if (place > locator)
      fail("place of the zip64 record", fmt::format("at most {}", locator), fmt::format("{}", place));
    ByteCursor cursor(where_, archive_.subspan(0, locator), static_cast<std::size_t>(place));
    expect(cursor, end_record_64, "zip64 record");
    (void)cursor.take(28, "zip64 record");  // its size, versions, disks, entries on this disk
    const auto n_entries = cursor.number<std::uint64_t>("entries");
    const auto length = cursor.number<std::uint64_t>("size of the zip directory");
    const auto begin = cursor.number<std::uint64_t>("place of the zip directory");
    return checked(begin, length, n_entries, static_cast<std::size_t>(place));
  }

  [[nodiscard]] Directory checked(std::uint64_t begin, std::uint64_t length, std::uint64_t n_entries,
                                  std::size_t limit) const {
    if (begin > limit || length != limit - begin)
      fail("zip directory", fmt::format("{} bytes that end at byte {}", length, limit),
           fmt::format("a place at byte {}", begin));
    return {static_cast<std::size_t>(begin), limit, n_entries};
  }

  void read_entry(ByteCursor& cursor) {
    constexpr std::string_view what = "zip directory";
    expect(cursor, central_header, what);
    (void)cursor.take(4, what);  // versions
    const auto flags = cursor.number<std::uint16_t>(what);
    const auto method = cursor.number<std::uint16_t>(what);
    (void)cursor.take(8, what);  // time, date, checksum
    std::uint64_t packed = cursor.number<std::uint32_t>(what);
    std::uint64_t size = cursor.number<std::uint32_t>(what);
    const auto name_length = cursor.number<std::uint16_t>(what);
    const auto extra_length = cursor.number<std::uint16_t>(what);
    const auto comment_length = cursor.number<std::uint16_t>(what);
    (void)cursor.take(8, what);  // disk, attributes
    std::uint64_t place = cursor.number<std::uint32_t>(what);
    const std::string name(cursor.text(name_length, what));
    read_extra(cursor.take(extra_length, what), {&size, &packed, &place});
    (void)cursor.take(comment_length, what);

    const auto entry = fmt::format("zip entry '{}'", escape_controls(name));
    if ((flags & encrypted) != 0) fail(entry, "no encryption", "some");
    if (method != stored) fail(entry, "numbers stored as they are", fmt::format("compression method {}", method));
    if (packed != size) fail(entry, fmt::format("{} bytes stored as they are", size), fmt::format("{}", packed));
    add(entry, name, place, size);
  }

  /// Numbers that do not fit 32 bits, in this order, those that do left out.
  void read_extra(std::span<const std::byte> extra, std::initializer_list<std::uint64_t*> numbers) const {
    constexpr std::string_view what = "zip64 extra field";
    ByteCursor cursor(where_, extra);
    while (cursor.left() >= 4) {
      const auto kind = cursor.number<std::uint16_t>(what);
      const auto length = cursor.number<std::uint16_t>(what);
      const auto field = cursor.take(length, what);
      if (kind != extra_64) continue;
      ByteCursor values(where_, field);
      for (auto* number : numbers)
        if (*number == in_extra_64) *number = values.number<std::uint64_t>(what);
    }
  }

  /// The entry's own header, which must tell the same as the directory.
  void add(const std::string& entry, const std::string& name, std::uint64_t place, std::uint64_t size) {
    if (place > archive_.size()) fail(entry, "a place inside the archive", fmt::format("byte {}", place));
    ByteCursor cursor(where_, archive_, static_cast<std::size_t>(place));
    expect(cursor, local_header, entry);
    (void)cursor.take(2, entry);  // version
    const auto flags = cursor.number<std::uint16_t>(entry);
    const auto method = cursor.number<std::uint16_t>(entry);
    (void)cursor.take(16, entry);  // time, date, checksum, sizes (0 where they stand behind the bytes)
    const auto name_length = cursor.number<std::uint16_t>(entry);
    const auto extra_length = cursor.number<std::uint16_t>(entry);
    const auto own_name = cursor.text(name_length, entry);
    if (own_name != name || method != stored || (flags & encrypted) != 0)
      fail(entry, "a header that agrees with the directory", "another");
    (void)cursor.take(extra_length, entry);
    const auto bytes = cursor.take(size, entry);
    if (!entries_.emplace(name, bytes).second) fail(entry, "it once", "it twice");
    extents_.push_back({static_cast<std::size_t>(place), cursor.position(), name});
  }

  void check_overlaps() {
    std::sort(extents_.begin(), extents_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < extents_.size(); ++i)
      if (extents_[i].begin < extents_[i - 1].end)
        fail(fmt::format("zip entry '{}'", escape_controls(extents_[i].name)),
             fmt::format("a place from byte {} on", extents_[i - 1].end),
             fmt::format("byte {} (overlaps another)", extents_[i].begin));
  }

  std::span<const std::byte> archive_;
  const std::string& where_;
  ZipEntries entries_;
  std::vector<Extent> extents_;
};

}  // namespace

ZipEntries read_stored_zip(std::span<const std::byte> archive, const std::string& where) {
  return ZipReader(archive, where).run();
}

}  // namespace qkv
