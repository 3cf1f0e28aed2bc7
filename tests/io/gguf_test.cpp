// One GGUF file: what is in a good one, and one case for each way to be wrong.

#include "qkv/io/formats/gguf.hpp"

#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gguf_file.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

/// A file of these bytes, opened; then gone again.
std::shared_ptr<const GgufFile> opened(const std::string& bytes) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "x.gguf", bytes);
  return GgufFile::open(directory.path() / "x.gguf");
}

void check_bytes_refused(const std::string& bytes, std::vector<std::string> parts) {
  parts.emplace_back("x.gguf: ");
  check_refused(
      ErrorCode::model, [&] { (void)opened(bytes); }, parts);
}

/// Two tensors and some keys.
TinyGguf small() {
  TinyGguf gguf;
  gguf.text("general.architecture", "none");
  gguf.number("x.count", 7U);
  gguf.floats("x.scores", {1.5F, -2.0F});
  gguf.tensors.push_back({"a", {2, 3}, 0, std::string(24, '\1')});
  gguf.tensors.push_back({"b", {1, 32}, 8, std::string(34, '\2')});
  return gguf;
}

void check_damage_refused(const std::function<void(TinyGguf&)>& damage, const std::vector<std::string>& parts) {
  auto gguf = small();
  damage(gguf);
  check_bytes_refused(gguf.bytes(), parts);
}

}  // namespace

TEST_CASE("a good GGUF file gives its metadata and its tensors in order", "[io]") {
  auto gguf = small();
  gguf.flag("x.flag", true);
  gguf.texts("x.texts", {"one", "", "three"});
  gguf.integers("x.integers", {-3, 4});
  gguf.text("x.bad", "\xFF");
  std::swap(gguf.tensors[0], gguf.tensors[1]);
  for (const std::uint32_t version : {2U, 3U}) {
    gguf.version = version;
    const auto file = opened(gguf.bytes());
    CHECK(file->version() == version);
    const auto json = file->json();
    CHECK(json["general.architecture"] == "none");
    CHECK(json["x.count"] == 7);
    CHECK(json["x.flag"] == true);
    CHECK(json["x.scores"] == nlohmann::json::array({1.5, -2.0}));
    CHECK(file->strings("x.texts") == std::vector<std::string_view>{"one", "", "three"});
    CHECK(file->integers("x.integers") == std::vector<std::int64_t>{-3, 4});
    CHECK(file->floats("x.scores") == std::vector<float>{1.5F, -2.0F});
    REQUIRE(file->tensors().size() == 2);
    CHECK(file->tensors()[0].name == "a");
    CHECK(file->tensors()[0].shape == Shape{2, 3});
    CHECK(file->tensors()[0].bytes[23] == std::byte{1});
    CHECK(name_of(file->tensors()[1].dtype) == "q8_0");
    CHECK(file->tensors()[1].bytes.size() == 34);
  }
}

TEST_CASE("a GGUF file without tensors, as vocabularies are kept, opens", "[io]") {
  auto gguf = small();
  gguf.tensors.clear();
  CHECK(opened(gguf.bytes())->tensors().empty());
}

TEST_CASE("a GGUF file cut short at any byte is refused", "[io]") {
  const auto whole = small().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(opened(whole.substr(0, size)), Error);
  }
  CHECK_NOTHROW(opened(whole));
}

TEST_CASE("what is no GGUF file, or of another version, is refused", "[io]") {
  check_damage_refused([](TinyGguf& g) { g.magic = "GGML"; }, {"expected a GGUF file"});
  for (const std::uint32_t version : {0U, 1U, 4U})
    check_damage_refused([&](TinyGguf& g) { g.version = version; },
                         {"version", "expected GGUF version 2 or 3", "found " + std::to_string(version)});
  check_damage_refused([](TinyGguf& g) { g.version = 0x03000000; }, {"version", "found a big-endian file"});
}

TEST_CASE("counts that the file has no room for are refused", "[io]") {
  for (const auto count : {std::int64_t{4}, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    check_damage_refused([&](TinyGguf& g) { g.n_keys = count; }, {"expected"});
    check_damage_refused([&](TinyGguf& g) { g.n_tensors = count; }, {"expected"});
  }
  check_damage_refused([](TinyGguf& g) { g.n_keys = 2; }, {"expected"});
  check_damage_refused([](TinyGguf& g) { g.n_tensors = 1; }, {"expected"});
  const auto type = [](std::uint32_t number) { return raw(number); };
  const auto huge = raw(std::numeric_limits<std::uint64_t>::max());
  check_damage_refused([&](TinyGguf& g) { g.keys[1].second = type(8) + huge; }, {"key 'x.count'", "expected 184"});
  for (const std::uint32_t element : {0U, 4U, 6U, 8U, 12U})
    check_damage_refused([&](TinyGguf& g) { g.keys[1].second = type(9) + type(element) + huge; }, {"key 'x.count'"});
}

TEST_CASE("values of unknown or nested types are refused", "[io]") {
  const auto set = [](const std::string& bytes) { return [=](TinyGguf& g) { g.keys[1].second = bytes; }; };
  check_damage_refused(set(raw(13U) + raw(1U)), {"key 'x.count'", "a type from 0 to 12", "found 13"});
  check_damage_refused(set(raw(9U) + raw(13U) + raw(std::uint64_t{1})), {"key 'x.count'", "found 13"});
  check_damage_refused(set(raw(9U) + raw(9U) + raw(std::uint64_t{1}) + raw(9U)), {"an array of arrays"});
  const auto file = opened([&] {
    auto gguf = small();
    gguf.keys[1].second = raw(7U) + "\2";
    return gguf.bytes();
  }());
  check_refused(ErrorCode::model, [&] { (void)file->json(); }, {"key 'x.count'", "a boolean of 0 or 1", "found 2"});
}

TEST_CASE("names that are empty, too long, no UTF-8 or there twice are refused", "[io]") {
  check_damage_refused([](TinyGguf& g) { g.keys[1].first = ""; }, {"key 1 of 3", "a name of 1 to 65535 bytes"});
  check_damage_refused([](TinyGguf& g) { g.keys[1].first = std::string(65536, 'k'); }, {"found one of 65536"});
  check_damage_refused([](TinyGguf& g) { g.keys[1].first = "x\xC3\n"; }, {"key 1 of 3", "UTF-8", "\\xC3\\n"});
  check_damage_refused([](TinyGguf& g) { g.keys[1].first = "x.scores"; }, {"key 'x.scores'", "twice"});
  check_damage_refused([](TinyGguf& g) { g.tensors[0].name = "\xFF"; }, {"name of tensor 0", "UTF-8"});
  check_damage_refused([](TinyGguf& g) { g.tensors[0].name = ""; }, {"name of tensor 0"});
  check_damage_refused([](TinyGguf& g) { g.tensors[0].name = "b"; }, {"tensor 'b'", "also in"});
}

TEST_CASE("extents that make no sense are refused", "[io]") {
  const auto a = [](const Shape& shape) { return [=](TinyGguf& g) { g.tensors[0].shape = shape; }; };
  check_damage_refused(a({}), {"tensor 'a'", "1 to 4 extents", "found 0"});
  check_damage_refused(a({1, 1, 1, 2, 3}), {"tensor 'a'", "found 5"});
  check_damage_refused(a({2, 0}), {"tensor 'a'", "extents from 1 on", "found 0"});
  check_damage_refused(a({2, -3}), {"tensor 'a'", "extents from 1 on"});
  check_damage_refused(a({std::int64_t{1} << 40, std::int64_t{1} << 40}), {"tensor 'a'", "fits 64 bits"});
  check_damage_refused(a({std::int64_t{1} << 62}), {"tensor 'a'", "fits 64 bits"});
  check_damage_refused(a({4, 3}), {"tensor 'b'", "expected to begin at byte 64", "overlaps another"});
}

TEST_CASE("rows that do not fill whole blocks are refused", "[io]") {
  check_damage_refused(
      [](TinyGguf& g) {
        g.tensors[1].shape = {32, 1};
      },
      {"tensor 'b'", "rows of a multiple of 32 numbers for q8_0", "found 1"});
  check_damage_refused([](TinyGguf& g) { g.tensors[1].type = 12; }, {"tensor 'b'", "multiple of 256", "q4_K"});
  for (const std::uint32_t type : {4U, 5U, 9U, 15U, 16U, 23U, 29U, 31U, 99U})
    check_damage_refused([&](TinyGguf& g) { g.tensors[1].type = type; },
                         {"tensor 'b'", "expected a type of", "found " + std::to_string(type)});
}

TEST_CASE("offsets outside, on others, between or beside the alignment are refused", "[io]") {
  const auto at = [](std::int64_t offset) { return [=](TinyGguf& g) { g.tensors[1].offset = offset; }; };
  check_damage_refused(at(0), {"tensor '", "overlaps another"});
  check_damage_refused(at(64), {"tensor 'b'", "expected 34 bytes from byte 64", "66 bytes"});
  check_damage_refused(at(16), {"tensor 'b'", "a multiple of 32", "found 16"});
  check_damage_refused(at(std::int64_t{1} << 62), {"tensor 'b'", "expected 34 bytes from byte"});
  check_damage_refused([](TinyGguf& g) { g.tensors[1].offset = -32; }, {"tensor 'b'"});  // as unsigned, enormous
  check_damage_refused(
      [](TinyGguf& g) {
        g.tensors[1].offset = 64;
        g.tensors[1].bytes.insert(0, 32, '\0');
      },
      {"tensor 'b'", "expected to begin at byte 32", "a gap"});
  auto gguf = small();
  check_bytes_refused(gguf.bytes() + std::string(31, 'x'), {"expected 66 bytes of data", "found 97"});
  CHECK_NOTHROW(opened(gguf.bytes() + std::string(30, '\0')));  // the last one padded as well
}

TEST_CASE("an alignment that is none is refused, another one is used", "[io]") {
  for (const std::uint32_t alignment : {0U, 1U, 4U, 24U, 1U << 21U, 0xFFFFFFFFU})
    check_damage_refused([&](TinyGguf& g) { g.number("general.alignment", alignment); },
                         {"key 'general.alignment'", "a power of two", "found " + std::to_string(alignment)});
  check_damage_refused([](TinyGguf& g) { g.text("general.alignment", "32"); }, {"key 'general.alignment'"});
  auto gguf = small();
  gguf.number("general.alignment", 128U);
  gguf.alignment = 128;
  CHECK(opened(gguf.bytes())->tensors()[1].bytes[0] == std::byte{2});
}

TEST_CASE("arrays of another kind than asked for are refused by key", "[io]") {
  const auto file = opened(small().bytes());
  const auto refuse = [&](const std::function<void()>& ask, const std::vector<std::string>& parts) {
    check_refused(ErrorCode::model, ask, parts);
  };
  refuse([&] { (void)file->strings("x.scores"); }, {"key 'x.scores'", "an array of strings", "found one of f32"});
  refuse([&] { (void)file->strings("x.count"); }, {"key 'x.count'", "an array of strings", "found one u32"});
  refuse([&] { (void)file->floats("x.none"); }, {"key 'x.none'", "an array of f32", "found nothing"});
  refuse([&] { (void)file->integers("x.scores"); }, {"key 'x.scores'", "an array of integers", "found one of f32"});
}

TEST_CASE("a long array does not become JSON", "[io]") {
  auto gguf = small();
  gguf.integers("x.long", std::vector<std::int32_t>(5000, 1));
  const auto file = opened(gguf.bytes());
  CHECK(file->json()["x.long"] == "an array of 5000 values");
  CHECK(file->integers("x.long").size() == 5000);
}

}  // namespace qkv::test
