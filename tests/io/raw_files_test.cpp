// The native format: one bare file per tensor.

#include "qkv/io/formats/raw_files.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    fs::create_directory(directory.path() / "weights");
    add("a.W.f32", 12);
  }
  void add(const std::string& name, std::size_t size) const {
    write_file(directory.path() / "weights" / name, std::string(size, '\0'));
  }
  void check_refused_with(const std::vector<std::string>& parts) const {
    check_refused(
        ErrorCode::model, [&] { (void)open_weights(directory.path()); }, parts);
  }
  TemporaryDirectory directory;
};

}  // namespace

TEST_CASE("bare files are tensors without a shape of their own", "[io]") {
  const Folder folder;
  folder.add("b.f16", 6);
  folder.add("a.bf16", 4);
  folder.add("empty.f32", 0);
  const auto opened = open_weights(folder.directory.path());
  CHECK(opened.format == "raw files");
  CHECK_FALSE(opened.source->knows_shapes());
  const auto& tensors = opened.source->tensors();
  REQUIRE(tensors.size() == 4);
  for (const auto* name : {"a", "a.W", "b", "empty"}) {
    CAPTURE(name);
    REQUIRE(find_tensor(*opened.source, name) != nullptr);
  }
  CHECK(find_tensor(*opened.source, "a.W")->bytes.size() == 12);
  CHECK(find_tensor(*opened.source, "a.W")->dtype == DType::f32);
  CHECK(find_tensor(*opened.source, "a")->dtype == DType::bf16);
  CHECK(find_tensor(*opened.source, "b")->dtype == DType::f16);
}

TEST_CASE("many names that differ little are all found", "[io]") {
  const Folder folder;
  std::vector<std::string> names{"a.W"};
  for (const auto* name :
       {"A", "a", "a-b", "a.b", "a_b", "a.W.x", "blocks.1.x", "blocks.10.x", "blocks.2.x", "blocks.1"}) {
    folder.add(std::string(name) + ".f32", 4);
    names.emplace_back(name);
  }
  const auto opened = open_weights(folder.directory.path());
  for (const auto& name : names) {
    CAPTURE(name);
    CHECK(find_tensor(*opened.source, name) != nullptr);
  }
}

TEST_CASE("a file with a wrong ending is refused", "[io]") {
  for (const auto* name : {"x.f64", "x.i32", "x", ".hidden", "x.F32", "x.", "x.f32.tmp", "README.md"}) {
    CAPTURE(name);
    const Folder folder;
    folder.add(name, 8);
    folder.check_refused_with({name, "expected a file named <tensor>.f32, .f16 or .bf16"});
  }
}

TEST_CASE("a size that is no whole number of numbers is refused", "[io]") {
  const Folder folder;
  folder.add("x.f32", 10);
  folder.check_refused_with({"x.f32", "multiple of 4 bytes", "found 10"});
  folder.add("x.f32", 12);
  folder.add("y.bf16", 3);
  folder.check_refused_with({"y.bf16", "multiple of 2 bytes", "found 3"});
}

TEST_CASE("one tensor in two dtypes is refused", "[io]") {
  const Folder folder;
  folder.add("a.W.bf16", 6);
  folder.check_refused_with({"tensor 'a.W'", "is also in", "a.W.f32", "a.W.bf16"});
}

TEST_CASE("a directory among the bare files is refused", "[io]") {
  const Folder folder;
  fs::create_directory(folder.directory.path() / "weights" / "x.f32");
  folder.check_refused_with({"x.f32", "regular file"});
}

}  // namespace qkv::test
