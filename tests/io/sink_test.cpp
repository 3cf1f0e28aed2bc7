#include "qkv/io/sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "qkv/core/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

void write_whole(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string text_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a link is followed, and a file appears only when it is whole", "[io]") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "target";
  const auto link = directory.path() / "link";
  write_file(target, "old");
  fs::create_symlink(target, link);
  { AtomicFile(link).write("half"); }
  CHECK(text_in(target) == "old");
  write_whole(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(text_in(target) == "new");
}

TEST_CASE("a pipe that only the process's open files name is written as it is", "[io]") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  write_whole(fmt::format("/proc/self/fd/{}", ends[1]), "hello");
  std::array<char, 8> read{};
  CHECK(::read(ends[0], read.data(), read.size()) == 5);
  CHECK(std::string(read.data()) == "hello");
  for (const auto end : ends) ::close(end);
}

TEST_CASE("a file that has lost its name is written through the link to it", "[io]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "lost";
  write_file(path, "old text");
  auto* file = std::fopen(path.c_str(), "r+b");
  REQUIRE(file != nullptr);
  fs::remove(path);
  write_whole(fmt::format("/proc/self/fd/{}", ::fileno(file)), "new");
  std::array<char, 16> read{};
  CHECK(std::fread(read.data(), 1, read.size(), file) == 3);
  CHECK(std::string(read.data()) == "new");
  std::fclose(file);
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("an error names the file", "[io]") {
  for (const auto* path : {"/nowhere/x", "/dev/full", "/"}) {
    CAPTURE(path);
    try {
      write_whole(path, "text");
      FAIL("written");
    } catch (const Error& e) {
      CHECK(std::string(e.what()).rfind(std::string(path) + ": cannot be written: ", 0) == 0);
    }
  }
}

}  // namespace qkv::test
