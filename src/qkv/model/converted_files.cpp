#include "qkv/model/converted_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "qkv/core/error.hpp"
#include "qkv/io/formats/gguf_metadata.hpp"
#include "qkv/io/sink.hpp"
#include "qkv/model/container.hpp"
#include "qkv/model/convert.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

constexpr auto from_metadata = "tokenizer.gguf";
constexpr auto from_bin = "tokenizer.bin";
constexpr std::array<std::string_view, 9> tokenizer_files{
    "tokenizer.json", "tokenizer_config.json",   "vocab.json", "merges.txt", "added_tokens.json", "tokenizer.model",
    from_metadata,    "special_tokens_map.json", from_bin};

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

void copy_one(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) throw Error(ErrorCode::failed, fmt::format("{}: cannot be copied: {}", from.string(), error.message()));
}

void write_whole(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace

std::vector<std::string> copy_tokenizer(const fs::path& from, const fs::path& to) {
  const auto found = tokenizer_path(from);
  std::error_code ignored;
  std::vector<std::string> copied;
  if (fs::is_directory(found, ignored)) {
    for (const auto name : tokenizer_files)
      if (fs::exists(found / name, ignored)) copied.emplace_back(name);
    for (const auto& name : copied) copy_one(found / name, to / name);
  } else if (GgufFile::recognises(found)) {
    const auto file = GgufFile::open(found);
    if (!file->has("tokenizer.ggml.tokens")) return {};
    write_whole(to / from_metadata, gguf_metadata_file(*file, "tokenizer."));
    copied = {from_metadata};
  } else if (fs::exists(found, ignored)) {
    copy_one(found, to / from_bin);
    copied = {from_bin};
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
