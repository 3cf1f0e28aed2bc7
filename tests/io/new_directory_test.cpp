#include "qkv/io/new_directory.hpp"

#include <algorithm>
#include <vector>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a new directory appears when it is complete, or leaves nothing", "[io]") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "target";
  {
    const NewDirectory abandoned(target);
    write_file(abandoned.path() / "file", "x");
    CHECK_FALSE(fs::exists(target));
  }
  CHECK(names_in(directory.path()).empty());
  NewDirectory fresh(target / "");  // a slash at the end names the same
  write_file(fresh.path() / "file", "x");
  fresh.commit();
  CHECK(names_in(directory.path()) == std::vector<std::string>{"target"});
  CHECK(names_in(target) == std::vector<std::string>{"file"});
}

TEST_CASE("what came there in the meantime is not overwritten", "[io]") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "target";
  NewDirectory late(target);
  write_file(late.path() / "file", "new");
  fs::create_directory(target);
  write_file(target / "mine", "old");
  check_refused(ErrorCode::failed, [&] { late.commit(); }, {"target"});
  CHECK(names_in(target) == std::vector<std::string>{"mine"});
}

TEST_CASE("of a directory that is replaced only the named files go", "[io]") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "target";
  const auto fill = [&] {
    fs::create_directories(target / "weights");
    write_file(target / "weights" / "a", "old");
    write_file(target / "config", "old");
  };
  fill();
  {
    NewDirectory next(target);
    write_file(next.path() / "config", "new");
    next.commit_over({"weights/a", "weights", "config"});
  }
  CHECK(names_in(directory.path()) == std::vector<std::string>{"target"});
  CHECK(names_in(target) == std::vector<std::string>{"config"});

  fill();
  write_file(target / "weights" / "mine", "kept");
  NewDirectory next(target);
  check_refused(ErrorCode::failed,
                [&] {
                  next.commit_over({"weights/a", "weights", "config"});
                },
                {"target", "kept in", ".old"});
  CHECK(names_in(target).empty());
  REQUIRE(names_in(directory.path()).size() == 2);
  const auto kept = directory.path() / names_in(directory.path())[1];
  CHECK(fs::exists(kept / "weights" / "mine"));
}

TEST_CASE("a directory that cannot be made is told", "[io]") {
  check_refused(ErrorCode::failed, [] { const NewDirectory nowhere("/nowhere/at/all"); }, {"/nowhere/at/all"});
}

}  // namespace qkv::test
