// Several .safetensors files with an index, and how the format of a directory is found.

#include <filesystem>
#include <string>
#include <vector>

#include "qkv/io/weight_source.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

const char* const first_shard = "model-00001-of-00002.safetensors";
const char* const second_shard = "model-00002-of-00002.safetensors";

/// 'a' in the first shard, 'b' in the second, and an index of this map.
struct Shards {
  explicit Shards(const nlohmann::json& index, const std::string& second_name = "b") {
    write_file(directory.path() / first_shard, safetensors_file({f32_tensor("a", {1}, {1.0F})}));
    write_file(directory.path() / second_shard, safetensors_file({f32_tensor(second_name, {1}, {2.0F})}));
    write_file(directory.path() / "model.safetensors.index.json", index.dump());
  }
  void check_refused_with(const std::vector<std::string>& parts) const {
    check_refused(
        ErrorCode::model, [&] { (void)open_weights(directory.path()); }, parts);
  }
  TemporaryDirectory directory;
};

nlohmann::json index_of(const nlohmann::json& map) { return {{"metadata", {{"total_size", 8}}}, {"weight_map", map}}; }

}  // namespace

TEST_CASE("shards are one set of tensors", "[io]") {
  const Shards shards(index_of({{"a", first_shard}, {"b", second_shard}}));
  const auto opened = open_weights(shards.directory.path());
  CHECK(opened.format == "safetensors");
  REQUIRE(opened.source->tensors().size() == 2);
  CHECK(fs::path(find_tensor(*opened.source, "b")->file).filename() == second_shard);
}

TEST_CASE("an index that names a missing shard is refused", "[io]") {
  const Shards shards(index_of({{"a", first_shard}, {"b", "model-00003-of-00002.safetensors"}}));
  shards.check_refused_with({"model-00003-of-00002.safetensors", "No such file"});
}

TEST_CASE("an index that leads out of the directory is refused", "[io]") {
  for (const auto* name : {"../x.safetensors", "sub/x.safetensors", "/etc/passwd", "..", "", "./x", "x/"}) {
    CAPTURE(name);
    const Shards shards(index_of({{"a", first_shard}, {"b", name}}));
    shards.check_refused_with({"model.safetensors.index.json", "weight_map", "key 'b'", "beside the index", name});
  }
  Shards(index_of({{"a", first_shard}, {"b", "."}})).check_refused_with({"regular file"});
}

TEST_CASE("an index that says the wrong shard, or knows a tensor that is nowhere, is refused", "[io]") {
  Shards(index_of({{"a", second_shard}, {"b", first_shard}}))
      .check_refused_with(
          {"index.json", "tensor 'a'", std::string("expected in"), second_shard, "found in", first_shard});
  Shards(index_of({{"a", first_shard}, {"b", second_shard}, {"c", second_shard}}))
      .check_refused_with({"index.json", "tensor 'c'", second_shard, "found nowhere"});
}

TEST_CASE("a tensor that is in two shards is refused", "[io]") {
  Shards(index_of({{"a", first_shard}, {"b", second_shard}}), "a")
      .check_refused_with({"tensor 'a'", "is also in", first_shard, second_shard});
}

TEST_CASE("an index without a map of names is refused", "[io]") {
  Shards(nlohmann::json::object()).check_refused_with({"index.json", "weight_map", "found nothing"});
  Shards(index_of(nullptr)).check_refused_with({"index.json", "weight_map", "found nothing"});
  Shards(index_of({"a"})).check_refused_with({"index.json", "weight_map", "an object"});
  Shards(index_of({{"a", 1}})).check_refused_with({"index.json", "key 'a'", "a string", "found 1"});
  Shards(nlohmann::json::array()).check_refused_with({"index.json", "expected a JSON object"});
}

TEST_CASE("a damaged shard is named", "[io]") {
  const Shards shards(index_of({{"a", first_shard}, {"b", second_shard}}));
  write_file(shards.directory.path() / second_shard, "short");
  shards.check_refused_with({second_shard, "at least 8 bytes", "found 5"});
}

TEST_CASE("a directory without weights is refused, saying what was looked for", "[io]") {
  const TemporaryDirectory directory;
  check_refused(ErrorCode::model, [&] { (void)open_weights(directory.path()); },
                {directory.path().string(), "expected weights", "safetensors", "raw files", "found none"});
  write_file(directory.path() / "weights", "a file");
  check_refused(ErrorCode::model, [&] { (void)open_weights(directory.path()); }, {"found none"});
}

TEST_CASE("a directory in the place of a weight file is refused", "[io]") {
  const TemporaryDirectory directory;
  fs::create_directory(directory.path() / "model.safetensors");
  check_refused(ErrorCode::model, [&] { (void)open_weights(directory.path()); }, {"model.safetensors", "regular file"});
}

}  // namespace qkv::test
