// Zip archives of stored entries: a good one, and one case for each way to be wrong.

#include "qkv/io/stored_zip.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/torch_file.hpp"

namespace qkv::test {
namespace {

ZipEntries read(const std::string& bytes) { return read_stored_zip(std::as_bytes(std::span(bytes)), "x.zip"); }

void check_bytes_refused(const std::string& bytes, std::vector<std::string> parts) {
  parts.emplace_back("x.zip: ");
  check_refused(
      ErrorCode::model, [&] { (void)read(bytes); }, parts);
}

void check_part_refused(const ZipPart& part, const std::vector<std::string>& parts) {
  for (const bool zip64 : {false, true}) check_bytes_refused(zip_file({{"first", "12345"}, part}, zip64), parts);
}

std::string with(std::string bytes, std::size_t from_end, const std::string& other) {
  return bytes.replace(bytes.size() - from_end, other.size(), other);
}

}  // namespace

TEST_CASE("a good zip archive gives its entries, with and without the records of zip64", "[io]") {
  for (const bool zip64 : {false, true}) {
    const auto bytes = zip_file({{"a/b", "12345"}, {"empty", ""}, {"c", "x"}}, zip64);
    const auto entries = read(bytes);
    REQUIRE(entries.size() == 3);
    const auto b = entries.at("a/b");
    CHECK(std::string(reinterpret_cast<const char*>(b.data()), b.size()) == "12345");
    CHECK(entries.at("empty").empty());
  }
  CHECK(read(zip_file({})).empty());
}

TEST_CASE("a zip archive cut short at any byte is refused", "[io]") {
  for (const bool zip64 : {false, true}) {
    const auto whole = zip_file({{"a", "12345"}, {"b", "6"}}, zip64);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      CHECK_THROWS_AS(read(whole.substr(0, size)), Error);
      CHECK_THROWS_AS(read(whole.substr(whole.size() - size)), Error);
    }
    check_bytes_refused(whole + "x", {"end of zip archive"});
  }
}

TEST_CASE("compressed and encrypted entries are refused, so that none is larger than the file", "[io]") {
  check_part_refused({"bomb", "xx", 8}, {"zip entry 'bomb'", "stored as they are", "compression method 8"});
  check_part_refused({"secret", "xx", 0, 1}, {"zip entry 'secret'", "no encryption"});
  auto bytes = zip_file({{"a", "12345"}});
  bytes.replace(bytes.size() - 22 - 47 + 24, 4, std::string("\xFF\xFF\0\0", 4));  // the unpacked size alone
  check_bytes_refused(bytes, {"zip entry 'a'", "65535 bytes stored as they are", "found 5"});
}

TEST_CASE("entries outside, on others or there twice are refused", "[io]") {
  check_part_refused({"b", "xx", 0, 0, 1 << 20}, {"zip entry 'b'", "expected 1048576 bytes", "cut short"});
  check_part_refused({"b", "xx", 0, 0, -1, 1 << 20}, {"zip entry 'b'", "a place inside the archive"});
  check_part_refused({"b", "xx", 0, 0, -1, 3}, {"zip entry 'b'", "expected 0x04034b50"});
  check_part_refused({"first", "xx"}, {"zip entry 'first'", "twice"});
  check_part_refused({"b", "xx", 0, 0, -1, -1, "c"}, {"zip entry 'b'", "agrees with the directory"});
  // Two names for the same bytes, as archives do that unpack to far more than they are.
  const std::string inner = zip_file({{"b", "123"}}).substr(0, 34);
  check_bytes_refused(zip_file({{"a", inner}, {"b", "123", 0, 0, -1, 31}}), {"overlaps another"});
}

TEST_CASE("directories of zip archives that make no sense are refused", "[io]") {
  const auto good = zip_file({{"a", "12345"}});
  check_bytes_refused(with(good, 12, std::string("\2\0", 2)), {"zip directory", "cut short"});
  check_bytes_refused(with(good, 12, std::string("\0\0", 2)), {"zip directory", "more behind them"});
  check_bytes_refused(with(good, 10, std::string("\xFF\0\0\0", 4)), {"zip directory"});
  check_bytes_refused(with(good, 6, std::string("\xFF\xFF\xFF\x7F", 4)), {"zip directory"});
  const auto large = zip_file({{"a", "12345"}}, true);
  check_bytes_refused(with(large, 22 + 12, std::string(8, '\x7F')), {"place of the zip64 record"});
  check_bytes_refused(with(large, 22 + 12, std::string(8, '\0')), {"zip64 record", "expected 0x06064b50"});
}

}  // namespace qkv::test
