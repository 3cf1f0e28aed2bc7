#pragma once

#include <filesystem>
#include <vector>

#include "qkv/io/weight_source.hpp"

namespace qkv {

/// The files that an index names (`model.safetensors.index.json`, say), each once. Throws Error{model} for a name that
/// is not that of a file beside the index.
[[nodiscard]] std::vector<std::filesystem::path> shard_files(const std::filesystem::path& index);

/// Throws Error{model} when what the index promises is not in the file it names. A tensor that it does not mention is
/// the binder's business.
void check_shards(const std::filesystem::path& index, const WeightSource& source);

}  // namespace qkv
