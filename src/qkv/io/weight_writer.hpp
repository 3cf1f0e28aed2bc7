#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// A tensor that is to be written.
struct PlannedTensor {
  std::string name;
  DType dtype;
  Shape shape;

  /// Throws Error{failed} when they do not fit 64 bits.
  [[nodiscard]] std::int64_t byte_count() const;
};

/// Writes the tensors of a model, one after the other: begin, its bytes row by row, end; and finish after the last.
/// Each call throws Error{failed} naming the file when it cannot be written.
class WeightWriter {
 public:
  virtual ~WeightWriter() = default;
  virtual void begin(const PlannedTensor& tensor) = 0;
  virtual void write(std::string_view bytes) = 0;
  virtual void end() = 0;
  virtual void finish() = 0;
};

/// `weights/<name>.<dtype>`, a file a tensor, nothing but the numbers.
[[nodiscard]] std::unique_ptr<WeightWriter> raw_files_writer(const std::filesystem::path& directory);
/// `model.safetensors`. The tensors must come in the order of `plan`.
[[nodiscard]] std::unique_ptr<WeightWriter> safetensors_file_writer(const std::filesystem::path& directory,
                                                                    std::span<const PlannedTensor> plan);

}  // namespace qkv
