// Directories that are no model, and files that are not what they should be.

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "qkv/model/model.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

void check_load_refused(const fs::path& path, const std::vector<std::string>& parts) {
  check_refused(
      ErrorCode::model, [&] { (void)Model::load(path); }, parts);
}

}  // namespace

TEST_CASE("what is no directory is refused", "[model]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "model";
  check_load_refused(path, {path.string(), "expected a model directory", "found nothing"});
  check_load_refused("", {"expected a model directory", "found nothing"});
  write_file(path, "x");
  check_load_refused(path, {path.string(), "expected a model directory", "found a file"});
}

TEST_CASE("a directory without config.json is refused", "[model]") {
  const TemporaryDirectory directory;
  check_load_refused(directory.path(), {directory.path().string(), "expected a model directory (with config.json)",
                                        "found no config.json in it"});
}

TEST_CASE("a config.json that is no JSON object is refused", "[model]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "config.json";
  for (const auto* text : {"", "{", "{\"model_type\": \"qkv\"", "not json", "\xFF\xFE{", "[1,"}) {
    write_file(path, text);
    check_load_refused(directory.path(), {path.string(), "expected JSON", "syntax error"});
  }
  for (const auto* text : {"[]", "null", "3"}) {
    write_file(path, text);
    check_load_refused(directory.path(), {path.string(), "expected a JSON object"});
  }
  write_file(path, R"({"model_type": "gpt2", "n_layer": 1, "n_layer": 2})");
  check_load_refused(directory.path(), {path.string(), "'n_layer'", "twice"});
}

TEST_CASE("a directory or a pipe in the place of config.json is refused at once", "[model]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "config.json";
  fs::create_directory(path);
  check_load_refused(directory.path(), {path.string(), "regular file"});
  fs::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  check_load_refused(directory.path(), {path.string(), "regular file"});
}

TEST_CASE("a good config without weights is refused", "[model]") {
  const TemporaryDirectory directory;
  write_native(tiny_native(), directory.path());
  fs::remove_all(directory.path() / "weights");
  check_load_refused(directory.path(), {directory.path().string(), "expected weights", "found none"});
}

TEST_CASE("a pipe among the weights is refused at once", "[model]") {
  const TemporaryDirectory directory;
  write_native(tiny_native(), directory.path());
  const auto path = directory.path() / "weights" / "final_norm.gain.f32";
  fs::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  check_load_refused(directory.path(), {path.string(), "regular file"});
}

TEST_CASE("end tokens of generation_config.json are added, and a broken one is refused", "[model]") {
  auto model = tiny_gpt2();
  model.config["eos_token_id"] = 4;
  const TemporaryDirectory directory;
  write_hugging_face(model, directory.path());
  const auto path = directory.path() / "generation_config.json";
  write_file(path, R"({"eos_token_id": [4, 7, 11, -1, 99999999999]})");
  CHECK(Model::load(directory.path()).config().eos == std::vector<TokenId>{4, 7});
  write_file(path, R"({"eos_token_id": "x"})");
  check_load_refused(directory.path(), {path.string(), "eos_token_id", "\"x\""});
  write_file(path, "{");
  check_load_refused(directory.path(), {path.string(), "expected JSON"});
}

}  // namespace qkv::test
