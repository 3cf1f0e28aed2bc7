#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// A tensor as PyTorch pickles it: a window of a storage. Nothing was checked against the storage.
struct PickledTensor {
  std::string name;
  DType dtype = DType::f32;
  std::string storage;             // its name
  std::int64_t storage_count = 0;  // numbers in it
  std::int64_t offset = 0;         // all in numbers
  Shape shape;
  std::vector<std::int64_t> strides;
};

/// Reads the pickle of a dictionary of tensors, as torch.save writes it. This is no pickle machine: it knows the
/// opcodes that such a dictionary needs, a fixed list of names, and what the three callables among them mean. Any other
/// opcode, name or callable is refused with Error{model} that begins with `where` and names it; nothing is ever run,
/// imported or looked up.
[[nodiscard]] std::vector<PickledTensor> read_tensor_pickle(std::span<const std::byte> pickle,
                                                            const std::string& where);

}  // namespace qkv
