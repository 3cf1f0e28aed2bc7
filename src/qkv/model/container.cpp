#include "qkv/model/container.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "qkv/core/error.hpp"
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

}  // namespace

std::span<const Container> containers() {
  // A directory may hold a model that is one file; those that look for one come first.
  static const std::array all{gguf_container(), llama2c_container(), directory_container()};
  return all;
}

ContainerFiles open_container(const fs::path& path) {
  if (const auto* container = find_container(path)) return container->open(path);
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status))
    throw Error(ErrorCode::model, fmt::format("{}: expected a model directory or file, found nothing", path.string()));
  std::string names;
  for (const auto& container : containers()) names += fmt::format("{}{}", names.empty() ? "" : ", ", container.name);
  const bool in_directory = fs::exists(path.parent_path() / "config.json", error);
  throw Error(ErrorCode::model,
              fmt::format("{}: expected a model directory or file ({}), found a file of another kind{}", path.string(),
                          names, in_directory ? "; the directory it is in may be one" : ""));
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
