#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/io/formats/pytorch.hpp"
#include "qkv/io/formats/raw_files.hpp"
#include "qkv/io/formats/safetensors.hpp"
#include "qkv/io/weight_source.hpp"

namespace qkv {

std::span<const WeightFormat> weight_formats() {
  static const std::array formats{safetensors_format(), pytorch_format(), raw_files_format()};
  return formats;
}

const StoredTensor* find_tensor(const WeightSource& source, std::string_view name) {
  const auto& tensors = source.tensors();
  const auto found = std::lower_bound(tensors.begin(), tensors.end(), name,
                                      [](const StoredTensor& tensor, std::string_view n) { return tensor.name < n; });
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}

void sort_by_name(std::vector<StoredTensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != tensors.end())
    throw Error(ErrorCode::model, fmt::format("{}: tensor '{}' is also in {}", twice->file,
                                              escape_controls(twice->name), std::next(twice)->file));
}

OpenedWeights open_weights(const std::filesystem::path& directory) {
  std::string names;
  for (const auto& format : weight_formats()) {
    if (format.recognises(directory)) return {format.name, format.open(directory)};
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  throw Error(ErrorCode::model, fmt::format("{}: expected weights ({}), found none", directory.string(), names));
}

}  // namespace qkv
