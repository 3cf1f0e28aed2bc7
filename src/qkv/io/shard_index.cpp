#include "qkv/io/shard_index.hpp"

#include <fmt/format.h>

#include <set>

#include "qkv/core/error.hpp"
#include "qkv/io/json_reader.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path index_of(const fs::path& directory, const std::string& file) { return directory / (file + ".index.json"); }

std::vector<fs::path> shard_files(const fs::path& index) {
  const auto reader = JsonReader::open(index);
  const auto map = reader.object("weight_map");
  std::set<fs::path> files;
  for (const auto& tensor : map.unread()) {
    const fs::path name = map.text(tensor);
    if (name.empty() || name != name.filename() || name == "..")
      map.fail(tensor, "the name of a file beside the index");
    files.insert(index.parent_path() / name);
  }
  return {files.begin(), files.end()};
}

void check_shards(const fs::path& index, const WeightSource& source) {
  const auto reader = JsonReader::open(index);
  const auto map = reader.object("weight_map");
  for (const auto& tensor : map.unread()) {
    const auto file = (index.parent_path() / map.text(tensor)).string();
    const auto* found = find_tensor(source, tensor);
    if (found == nullptr || found->file != file)
      throw Error(ErrorCode::model, fmt::format("{}: tensor '{}': expected in {}, found {}", index.string(), tensor,
                                                file, found == nullptr ? "nowhere" : "in " + found->file));
  }
}

}  // namespace

bool has_file_or_shards(const fs::path& directory, const std::string& file) {
  return is_there(directory / file) || is_there(index_of(directory, file));
}

std::unique_ptr<WeightSource> open_file_or_shards(const fs::path& directory, const std::string& file, OpenFiles open) {
  if (is_there(directory / file)) return open({directory / file});
  const auto index = index_of(directory, file);
  auto source = open(shard_files(index));
  check_shards(index, *source);
  return source;
}

}  // namespace qkv
