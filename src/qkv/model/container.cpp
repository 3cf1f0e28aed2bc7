#include "qkv/model/container.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/model/directory_container.hpp"
#include "qkv/model/families/families.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

const Container* find_container(const fs::path& path) {
  const auto all = containers();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Container& container) { return container.recognises(path); });
  return found == all.end() ? nullptr : &*found;
}

/// Containers that are one file.
std::vector<std::string_view> names_of_files() {
  std::vector<std::string_view> names;
  for (const auto& container : containers())
    if (container.name != directory_container().name) names.push_back(container.name);
  return names;
}

/// What a directory that is no model holds instead: models in files of their own, as far as there are such.
std::string found_in_directory(const fs::path& directory) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> models;
  std::error_code error;
  for (auto entry = fs::directory_iterator(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (entry->is_regular_file(error) && find_container(entry->path()) != nullptr)
      models.push_back(entry->path().filename().string());
  if (models.empty()) return "no config.json in it";
  std::sort(models.begin(), models.end());
  const auto named = std::span(models).first(std::min(models.size(), most_named));
  return fmt::format("no config.json but {} model{} in it; name {}: {}{}", models.size(), models.size() == 1 ? "" : "s",
                     models.size() == 1 ? "it" : "one of them", fmt::join(named, ", "),
                     named.size() < models.size() ? ", ..." : "");
}

/// What kind of file it is, by its beginning, and whether it lies in a model directory.
std::string found_in_file(const fs::path& path) {
  std::array<char, 64> buffer{};
  std::ifstream file(path, std::ios::binary);
  file.read(buffer.data(), buffer.size());
  const std::string_view begin(buffer.data(), static_cast<std::size_t>(file.gcount()));
  const auto begins_with = [&](std::string_view bytes) { return begin.substr(0, bytes.size()) == bytes; };
  const char* kind = begin.empty()                         ? "an empty file"
                     : begin.size() > 8 && begin[8] == '{' ? "safetensors, which holds weights alone"
                     : begins_with("{")                    ? "JSON"
                     : begins_with("\x89PNG")              ? "a PNG picture"
                     : begins_with("PK\x03\x04")           ? "a zip archive"
                     : is_valid_utf8(begin.substr(0, whole_characters(begin))) && begin.find('\0') == begin.npos
                         ? "a file of text"
                         : "a file of another kind";
  std::error_code error;
  const auto directory = path.parent_path();
  return fs::exists(directory / "config.json", error)
             ? fmt::format("{}; the directory that it is in may be a model", kind)
             : kind;
}

}  // namespace

std::span<const Container> containers() {
  // A directory may hold a model that is one file; those that look for one come first.
  static const std::array all{gguf_container(), llama2c_container(), directory_container()};
  return all;
}

ContainerFiles open_container(const fs::path& path) {
  require_container(path);
  return find_container(path)->open(path);
}

void require_container(const fs::path& path) {
  if (find_container(path) != nullptr) return;
  std::error_code error;
  const auto found = !fs::exists(path, error)        ? std::string("nothing")
                     : fs::is_directory(path, error) ? found_in_directory(path)
                                                     : found_in_file(path);
  throw Error(ErrorCode::model,
              fmt::format("{}: expected a model directory (with config.json) or a model in one file ({}), found {}",
                          path.string(), fmt::join(names_of_files(), ", "), found));
}

fs::path tokenizer_path(const fs::path& model) {
  const auto* container = find_container(model);
  return container == nullptr ? model : container->tokenizer(model);
}

std::optional<fs::path> only_file(const fs::path& directory, std::string_view ending) {
  std::error_code error;
  if (!fs::is_directory(directory, error) || fs::exists(directory / "config.json", error)) return std::nullopt;
  std::optional<fs::path> only;
  for (auto entry = fs::directory_iterator(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().extension() != ending) continue;
    if (only) return std::nullopt;
    only = entry->path();
  }
  return only;
}

}  // namespace qkv
