#include "qkv/io/mapped_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

TEST_CASE("a mapped file holds the bytes of the file", "[io]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  std::string bytes(10'000, 'a');
  bytes[0] = '\0';
  bytes[9'999] = '\xFF';
  write_file(path, bytes);
  MappedFile file(path);
  read_pages(file.bytes().subspan(4'095, 3'000));
  CHECK(text_of(file) == bytes);
  for (const std::size_t first : {0U, 1U, 4'096U, 8'000U, 10'000U}) release_pages(file.bytes().subspan(first));
  release_pages(file.bytes().first(4'096));
  CHECK(text_of(file) == bytes);
  MappedFile moved(std::move(file));
  CHECK(text_of(moved) == bytes);
  write_file(directory.path() / "other", "x");
  moved = MappedFile(directory.path() / "other");
  CHECK(text_of(moved) == "x");
}

TEST_CASE("an empty file is empty", "[io]") {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "");
  CHECK(MappedFile(directory.path() / "file").bytes().empty());
}

TEST_CASE("what is not a readable regular file is refused by name", "[io]") {
  const TemporaryDirectory directory;
  const auto refuse = [](const fs::path& path, const std::string& part) {
    check_refused(ErrorCode::model, [&] { MappedFile{path}; }, {path.string(), part});
  };
  refuse(directory.path() / "missing", "No such file");
  refuse(directory.path() / "missing" / "file", "No such file");
  refuse(directory.path(), "regular file");
  write_file(directory.path() / "file", "x");
  refuse(directory.path() / "file" / "below", "Not a directory");
  fs::create_symlink("nowhere", directory.path() / "dangling");
  refuse(directory.path() / "dangling", "No such file");
  refuse("/dev/zero", "regular file");
}

TEST_CASE("a named pipe is refused at once, not waited for", "[io]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const auto before = std::chrono::steady_clock::now();
  check_refused(ErrorCode::model, [&] { MappedFile{path}; }, {path.string(), "regular file"});
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(1));
}

TEST_CASE("a file without permission is refused by name", "[io]") {
  if (::geteuid() == 0) {
    WARN("skipped: the superuser may read everything");
    return;
  }
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  write_file(path, "x");
  fs::permissions(path, fs::perms::none);
  check_refused(ErrorCode::model, [&] { MappedFile{path}; }, {path.string(), "Permission denied"});
}

}  // namespace qkv::test
