#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "qkv/io/weight_source.hpp"

namespace qkv {

// Weights that a directory holds in one file (`model.safetensors`, say) or in several, which an index names
// (`model.safetensors.index.json`). `file` is the name of the one.

/// Whether there is either.
[[nodiscard]] bool has_file_or_shards(const std::filesystem::path& directory, const std::string& file);

using OpenFiles = std::unique_ptr<WeightSource> (*)(const std::vector<std::filesystem::path>& files);

/// Opens the file if it is there, else those that the index names, each once. Throws Error{model} for a name that is
/// not that of a file beside the index, and when what the index promises is not in the file it names. A tensor that it
/// does not mention is the binder's business.
[[nodiscard]] std::unique_ptr<WeightSource> open_file_or_shards(const std::filesystem::path& directory,
                                                                const std::string& file, OpenFiles open);

}  // namespace qkv
