#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// A tensor as a file holds it. `bytes` is exactly as long as dtype and shape say; it is mapped, not yet read.
struct StoredTensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::span<const std::byte> bytes;
  std::string file;         // for messages
  bool transposed = false;  // holds the matrix that a family asks for with rows and columns exchanged
};

/// The tensors of a model. The bytes stay valid as long as the source lives.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// In the order of their names.
  [[nodiscard]] virtual const std::vector<StoredTensor>& tensors() const = 0;
  /// Formats without shapes of their own (a bare file of numbers) are told the shape that the config asks for, and
  /// check the byte count. The others return the shape they hold.
  [[nodiscard]] virtual bool knows_shapes() const { return true; }
  /// What the tensor is called here that a family asks for by its published name.
  [[nodiscard]] virtual std::string name_in_file(const std::string& published) const { return published; }
  /// The bytes of a tensor are not needed for a while. What is mapped leaves memory, and is read again when it is
  /// touched.
  virtual void release(const StoredTensor&) const {}
};

/// Binary search by name; null when there is none.
[[nodiscard]] const StoredTensor* find_tensor(const WeightSource& source, std::string_view name);

/// Sorts by name. Throws Error{model} naming both files when a name comes twice.
void sort_by_name(std::vector<StoredTensor>& tensors);

/// One way to keep weights on disk.
struct WeightFormat {
  std::string_view name;
  /// Whether a model directory holds weights of this kind. Only looks for files.
  bool (*recognises)(const std::filesystem::path& directory);
  /// Throws Error{model} when a file is not what it claims to be.
  std::unique_ptr<WeightSource> (*open)(const std::filesystem::path& directory);
};

/// Every format, in the order they are tried. A new format is one more line in weight_formats.cpp.
[[nodiscard]] std::span<const WeightFormat> weight_formats();

struct OpenedWeights {
  std::string_view format;
  std::shared_ptr<const WeightSource> source;
};

/// Opens the weights of a model directory. Throws Error{model} naming what was looked for when there are none.
[[nodiscard]] OpenedWeights open_weights(const std::filesystem::path& directory);

}  // namespace qkv
