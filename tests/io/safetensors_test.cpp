// One .safetensors file: what is in a good one, and one case for each way to be wrong.

#include "qkv/io/formats/safetensors.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

/// A file of these bytes, opened; then gone again.
struct OpenedFile {
  explicit OpenedFile(const std::string& bytes) {
    write_file(path(), bytes);
    source = open_safetensors({path()});
  }
  [[nodiscard]] std::filesystem::path path() const { return directory.path() / "x.safetensors"; }

  TemporaryDirectory directory;
  std::unique_ptr<WeightSource> source;
};

void check_file_refused(const std::string& bytes, std::vector<std::string> parts) {
  parts.emplace_back("x.safetensors: ");
  check_refused(
      ErrorCode::model, [&] { OpenedFile{bytes}; }, parts);
}

/// The header of one tensor 'w' with 16 bytes behind it.
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

void check_entry_refused(const std::string& header, std::vector<std::string> parts) {
  CAPTURE(header);
  check_file_refused(safetensors_file(header, std::string(16, '\0')), std::move(parts));
}

/// 'a' and 'b' of 8 bytes each, at these offsets, in 16 bytes of data.
std::string pair_header(const std::string& a, const std::string& b) {
  return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + a +
         R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + b + "}}";
}

}  // namespace

TEST_CASE("a good safetensors file gives its tensors in order", "[io]") {
  const OpenedFile file(safetensors_file({f32_tensor("b", {2, 1}, {1.0F, 2.0F}),
                                          {"a", {3}, "BF16", "\x01\x02\x03\x04\x05\x06"},
                                          {"c", {}, "I64", "12345678"},
                                          {"d", {0, 5}, "F32", ""}}));
  const auto& tensors = file.source->tensors();
  REQUIRE(tensors.size() == 4);
  CHECK(tensors[0].name == "a");
  CHECK(tensors[0].dtype == DType::bf16);
  CHECK(tensors[1].shape == Shape{2, 1});
  CHECK(std::memcmp(tensors[1].bytes.data(), bytes_of({1.0F, 2.0F}).data(), 8) == 0);
  CHECK(tensors[2].bytes.size() == 8);
  CHECK(tensors[3].bytes.empty());
  CHECK(find_tensor(*file.source, "c") == &tensors[2]);
  CHECK(find_tensor(*file.source, "bb") == nullptr);
  CHECK(file.source->knows_shapes());
}

TEST_CASE("metadata, spaces and an empty set are allowed", "[io]") {
  CHECK(OpenedFile(safetensors_file(R"({"__metadata__":{"format":"pt"}}   )", "")).source->tensors().empty());
  CHECK(OpenedFile(safetensors_file("{}", "")).source->tensors().empty());
}

TEST_CASE("a safetensors file cut short anywhere is refused", "[io]") {
  const auto whole = safetensors_file({f32_tensor("w", {4}, {1.0F, 2.0F, 3.0F, 4.0F})});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    check_file_refused(whole.substr(0, length), {"expected", "found"});
  }
  check_file_refused(whole.substr(0, 5), {"at least 8 bytes", "found 5"});
  check_file_refused(whole.substr(0, 20), {"header length", "at most 12", "found 56"});
  check_file_refused(whole.substr(0, whole.size() - 1), {"'w'", "16", "found", "15 bytes"});
}

TEST_CASE("bytes after the last tensor are refused", "[io]") {
  const auto whole = safetensors_file({f32_tensor("w", {1}, {1.0F})});
  check_file_refused(whole + "x", {"expected 4 bytes", "found 5"});
  check_file_refused(safetensors_file("{}", "x"), {"expected 0 bytes", "found 1"});
}

TEST_CASE("a header length that lies is refused", "[io]") {
  const auto with_length = [](const std::string& length) { return length + "{}" + std::string(16, '\0'); };
  check_file_refused(with_length({"\x13\0\0\0\0\0\0\0", 8}), {"header length", "at most 18", "found 19"});
  check_file_refused(with_length({"\0\0\0\0\0\0\0\x80", 8}), {"header length", "found 9223372036854775808"});
  check_file_refused(with_length(std::string(8, '\xFF')), {"header length", "found 18446744073709551615"});
  check_file_refused(with_length({"\xF8\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8}), {"header length"});  // 8 + it wraps round
  check_file_refused(std::string(8, '\0'), {"header", "expected JSON"});
}

TEST_CASE("a header that is no JSON object is refused", "[io]") {
  for (const auto* header : {"", "{", "hello", "{\"w\":}", "\xFF\xFE"}) check_entry_refused(header, {"header", "JSON"});
  for (const auto* header : {"[]", "3", "null"}) check_entry_refused(header, {"expected a JSON object", header});
  for (const auto* header : {R"({"w":3})", R"({"w":[]})", R"({"w":null})"})
    check_entry_refused(header, {"key 'w'", "an object", "found"});
  check_entry_refused(R"({"w":{}})", {"w", "key 'dtype'", "found nothing"});
  check_entry_refused(R"({"w":{"dtype":"F32","data_offsets":[0,16]}})", {"w", "key 'shape'", "found nothing"});
  check_entry_refused(R"({"w":{"dtype":"F32","shape":[4]}})", {"w", "key 'data_offsets'", "found nothing"});
}

TEST_CASE("an unknown dtype is refused", "[io]") {
  for (const auto* dtype : {R"("F8_E4M3")", R"("")", R"("float32")", "4", "null", R"(["F32"])"})
    check_entry_refused(entry(dtype, "[4]", "[0,16]"), {"w", "key 'dtype'", "found"});
}

TEST_CASE("extents that are none are refused", "[io]") {
  for (const auto* shape : {"[-4]", "[2,-2]", "[4.0]", "[1.5]", "[\"4\"]", "[null]", "[true]", "[[4]]",
                            "[9223372036854775808]", "4", "null", "{}"})
    check_entry_refused(entry(R"("F32")", shape, "[0,16]"), {"w", "key 'shape'", "found"});
}

TEST_CASE("a shape whose product leaves 64 bits is refused", "[io]") {
  for (const auto* shape : {"[4294967296,4294967296]", "[9223372036854775807]", "[4611686018427387905]",
                            "[2147483648,2147483648,4]", "[3037000500,3037000500]"})
    check_entry_refused(entry(R"("F32")", shape, "[0,16]"), {"w", "key 'shape'", "64 bits"});
}

TEST_CASE("a shape that does not fill its offsets is refused", "[io]") {
  check_entry_refused(entry(R"("F32")", "[3]", "[0,16]"),
                      {"w", "data_offsets", "expected 12 bytes for f32 [3]", "[0,16]"});
  check_entry_refused(entry(R"("F16")", "[4]", "[0,16]"), {"w", "data_offsets", "expected 8 bytes for f16 [4]"});
  check_entry_refused(entry(R"("F32")", "[0,4]", "[0,16]"), {"w", "data_offsets", "expected 0 bytes"});
}

TEST_CASE("offsets that are none are refused", "[io]") {
  for (const auto* offsets :
       {"[16,0]", "[0,20]", "[16,32]", "[-16,0]", "[0]", "[]", "[0,8,16]", "16", "null", "[0,16.0]",
        "[0,9223372036854775807]", "[0,18446744073709551615]", "\"0,16\"", "[9223372036854775807,9223372036854775807]"})
    check_entry_refused(entry(R"("F32")", "[4]", offsets), {"w", "expected", "found"});
}

TEST_CASE("tensors that overlap or leave a gap are refused", "[io]") {
  const auto refuse = [](const std::string& a, const std::string& b, std::vector<std::string> parts) {
    check_entry_refused(pair_header(a, b), std::move(parts));
  };
  refuse("[0,8]", "[0,8]", {"expected to begin at byte 8", "found 0", "overlaps"});
  refuse("[0,8]", "[4,12]", {"'b'", "expected to begin at byte 8", "found 4", "overlaps"});
  refuse("[8,16]", "[4,12]", {"'b'", "expected to begin at byte 0", "found 4", "gap"});
  check_file_refused(safetensors_file(pair_header("[0,8]", "[12,20]"), std::string(20, '\0')),
                     {"'b'", "expected to begin at byte 8", "found 12", "gap"});
  CHECK(OpenedFile(safetensors_file(pair_header("[8,16]", "[0,8]"), std::string(16, '\0'))).source->tensors().size() ==
        2);
}

TEST_CASE("a name that stands in one header twice is refused", "[io]") {
  const std::string one = R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const std::string two = R"("w":{"dtype":"F32","shape":[2],"data_offsets":[8,16]})";
  check_entry_refused("{" + one + "," + two + "}", {"'w'", "twice"});
}

TEST_CASE("a header nested beyond all measure is refused", "[io]") {
  const auto deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const auto& header : {R"({"w":)" + deep + "}", entry(deep, "[4]", "[0,16]"), entry(R"("F32")", deep, "[0,16]")})
    check_file_refused(safetensors_file(header, std::string(16, '\0')), {"header"});
}

}  // namespace qkv::test
