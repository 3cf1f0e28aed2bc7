#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "qkv/io/weight_writer.hpp"
#include "qkv/model/model_files.hpp"

namespace qkv {

/// How the weights of a converted model are kept: one file a tensor, or all in `model.safetensors`. config.json and the
/// names of the tensors are the project's own in both.
enum class WeightForm { native, safetensors };

/// A tensor of the new model, and where its numbers are in the old one.
struct ConvertedTensor {
  PlannedTensor planned;
  MatrixRef from;           // a vector is one row
  bool transposed = false;  // `from` lies as [in, out]
};

struct ConversionPlan {
  DType dtype = DType::f32;
  std::vector<ConvertedTensor> tensors;

  /// Of the weights, once written.
  [[nodiscard]] std::int64_t byte_count() const;
};

/// What is to be written. Without a dtype: that of the weights where all have the same, else f32.
[[nodiscard]] ConversionPlan plan_conversion(const ModelFiles& files, std::optional<DType> dtype);

/// Bytes of weights written so far, and in all. What it throws ends the conversion.
using ConversionProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Writes config.json and the weights into an empty directory, one tensor after the other. Numbers are rounded to the
/// nearest, halfway to even. Throws Error{numbers} naming the tensor where a number is too large for the dtype,
/// Error{failed} naming the file that cannot be written.
void write_converted(const ModelFiles& files, const ConversionPlan& plan, WeightForm form,
                     const std::filesystem::path& directory, const ConversionProgress& progress = nullptr);

/// Copies the files that the tokenizer of the model at `from` is made of into a directory, and returns their names. One
/// that is part of a GGUF file becomes a file of its own, with the metadata that belongs to it. Throws Error{failed}
/// naming the file that cannot be copied.
std::vector<std::string> copy_tokenizer(const std::filesystem::path& from, const std::filesystem::path& to);

/// All that a directory holds, paths below it, each after what is inside it, when it is empty or nothing but a model
/// that write_converted() and copy_tokenizer() wrote. Throws Error{usage} naming what else is there.
[[nodiscard]] std::vector<std::filesystem::path> converted_files(const std::filesystem::path& directory);

}  // namespace qkv
