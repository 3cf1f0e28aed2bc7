#include "qkv/model/converted_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "qkv/core/error.hpp"
#include "qkv/model/convert.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> tokenizer_files{"tokenizer.json",    "tokenizer_config.json",
                                                          "vocab.json",        "merges.txt",
                                                          "added_tokens.json", "special_tokens_map.json"};

[[noreturn]] void refuse(const fs::path& directory, const std::string& found) {
  throw Error(ErrorCode::usage,
              fmt::format("{}: expected nothing there, an empty directory or a model that convert wrote, found {}",
                          directory.string(), found));
}

/// The names in a directory.
std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) refuse(directory, fmt::format("what cannot be read: {}", error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

bool is_plain_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored));
}

bool is_plain_directory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

bool is_weight_file(const fs::path& path) {
  const auto ending = path.extension().string();
  const auto dtype = ending.empty() ? std::nullopt : dtype_from_name(std::string_view(ending).substr(1));
  return dtype && is_weight_dtype(*dtype) && is_plain_file(path);
}

bool has_our_mark(const fs::path& config) {
  if (!is_plain_file(config)) return false;
  try {
    return JsonReader::open(config).text_or(written_by_key, "") == written_by;
  } catch (const Error&) {
    return false;
  }
}

/// weights/ and what is in it.
void add_weights(const fs::path& directory, std::vector<fs::path>& files) {
  for (const auto& name : names_in(directory / "weights")) {
    const auto path = fs::path("weights") / name;
    if (!is_weight_file(directory / path)) refuse(directory, fmt::format("'{}'", path.string()));
    files.push_back(path);
  }
  files.emplace_back("weights");
}

}  // namespace

std::vector<std::string> copy_tokenizer(const fs::path& from, const fs::path& to) {
  std::vector<std::string> copied;
  for (const auto name : tokenizer_files) {
    std::error_code error;
    if (!fs::exists(from / name, error)) continue;
    fs::copy_file(from / name, to / name, error);
    if (error)
      throw Error(ErrorCode::failed, fmt::format("{}: cannot be copied: {}", (from / name).string(), error.message()));
    copied.emplace_back(name);
  }
  return copied;
}

std::vector<fs::path> converted_files(const fs::path& directory) {
  if (!is_plain_directory(directory)) refuse(directory, "something else");
  const auto names = names_in(directory);
  if (names.empty()) return {};
  if (!has_our_mark(directory / "config.json"))
    refuse(directory, fmt::format("no config.json that says \"{}\": \"{}\"", written_by_key, written_by));
  std::vector<fs::path> files;
  for (const auto& name : names) {
    const bool known = name == "config.json" || name == "model.safetensors" ||
                       std::find(tokenizer_files.begin(), tokenizer_files.end(), name) != tokenizer_files.end();
    if (name == "weights" && is_plain_directory(directory / name))
      add_weights(directory, files);
    else if (known && is_plain_file(directory / name))
      files.emplace_back(name);
    else
      refuse(directory, fmt::format("'{}'", name));
  }
  return files;
}

}  // namespace qkv
