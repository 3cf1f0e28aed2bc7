#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/io/weight_source.hpp"

namespace qkv::test {

/// The arrays of a .safetensors file that holds goldens.
class Arrays {
 public:
  explicit Arrays(const std::filesystem::path& file);

  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::vector<float> floats(const std::string& name) const;
  [[nodiscard]] std::vector<TokenId> ids(const std::string& name) const;
  [[nodiscard]] const Shape& shape(const std::string& name) const;

 private:
  [[nodiscard]] const StoredTensor& find(const std::string& name) const;
  std::unique_ptr<WeightSource> source_;
};

/// The largest absolute difference; infinite when the lengths differ or a number is not finite.
[[nodiscard]] double largest_difference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace qkv::test
