#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "qkv/io/weight_source.hpp"

namespace qkv {

/// `pytorch_model.bin`, or the shards that `pytorch_model.bin.index.json` names.
[[nodiscard]] WeightFormat pytorch_format();

/// Opens one or more files of torch.save as one set of tensors: a zip archive with a pickled dictionary that says which
/// part of which storage each tensor is, and one stored entry for each storage. Files from before PyTorch 1.6, which
/// are no archives, are refused. Numbers in order stay where they are; others (a transposed matrix) are put in order,
/// as many in all as the file has bytes for. Throws Error{model}.
[[nodiscard]] std::unique_ptr<WeightSource> open_pytorch(const std::vector<std::filesystem::path>& files);

}  // namespace qkv
