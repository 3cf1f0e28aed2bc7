#include <algorithm>
#include <fstream>
#include <string>

#include "qkv/tokenizer/tokenizer.hpp"
#include "support/catch.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::vector<fs::path> golden_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(QKV_TEST_DATA) / "tokenizers"))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// The other libraries write this mark for bytes that are no character, and for what is unknown.
bool can_compare(const std::string& decoded) {
  return decoded.find("\uFFFD") == std::string::npos && decoded.find("\u2047") == std::string::npos;
}

}  // namespace

TEST_CASE("small tokenizers of every kind give the ids and texts of the libraries that define them", "[tokenizer]") {
  std::size_t n_folders = 0;
  for (const auto& folder : golden_folders()) {
    CAPTURE(folder.filename().string());
    const bool is_json = fs::exists(folder / "tokenizer.json");
    const auto tokenizer = Tokenizer::open(folder);
    REQUIRE(tokenizer.has_value());
    std::ifstream file(folder / "golden.jsonl");
    std::size_t n_lines = 0;
    std::size_t n_decoded = 0;
    for (std::string line; std::getline(file, line); ++n_lines) {
      const auto golden = json::parse(line);
      const auto text = golden["text"].get<std::string>();
      const auto ids = golden["ids"].get<Ids>();
      CAPTURE(line);
      CHECK(tokenizer->encode(text, {true, is_json}) == ids);
      const auto decoded = golden["decoded"].get<std::string>();
      if (!can_compare(decoded)) continue;
      CHECK(tokenizer->decode(ids) == decoded);
      ++n_decoded;
    }
    CHECK(n_lines >= 40);
    CHECK(n_decoded >= 10);
    ++n_folders;
  }
  CHECK(n_folders >= 36);
}

}  // namespace qkv::test
