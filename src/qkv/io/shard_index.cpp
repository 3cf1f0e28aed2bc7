#include "qkv/io/shard_index.hpp"

#include <fmt/format.h>

#include <set>

#include "qkv/core/error.hpp"
#include "qkv/io/json_reader.hpp"

namespace qkv {

std::vector<std::filesystem::path> shard_files(const std::filesystem::path& index) {
  const auto reader = JsonReader::open(index);
  const auto map = reader.object("weight_map");
  std::set<std::filesystem::path> files;
  for (const auto& tensor : map.unread()) {
    const std::filesystem::path name = map.text(tensor);
    if (name.empty() || name != name.filename() || name == "..")
      map.fail(tensor, "the name of a file beside the index");
    files.insert(index.parent_path() / name);
  }
  return {files.begin(), files.end()};
}

void check_shards(const std::filesystem::path& index, const WeightSource& source) {
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

}  // namespace qkv
