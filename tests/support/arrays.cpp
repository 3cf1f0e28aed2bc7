#include "support/arrays.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "qkv/io/formats/safetensors.hpp"
#include "qkv/tensor/dtype.hpp"

namespace qkv::test {

Arrays::Arrays(const std::filesystem::path& file) : source_(open_safetensors({file})) {}

const StoredTensor& Arrays::find(const std::string& name) const {
  const auto* tensor = find_tensor(*source_, name);
  if (tensor == nullptr) throw std::runtime_error("no array " + name);
  return *tensor;
}

bool Arrays::has(const std::string& name) const { return find_tensor(*source_, name) != nullptr; }

std::vector<float> Arrays::floats(const std::string& name) const {
  const auto& tensor = find(name);
  std::vector<float> numbers(tensor.bytes.size() / size_of(tensor.dtype));
  widen(tensor.dtype, tensor.bytes.data(), numbers.size(), numbers.data());
  return numbers;
}

std::vector<TokenId> Arrays::ids(const std::string& name) const {
  const auto& tensor = find(name);
  std::vector<TokenId> ids;
  for (std::size_t at = 0; at < tensor.bytes.size(); at += size_of(tensor.dtype)) {
    std::int64_t id = 0;  // little-endian, so that a shorter integer fills the lower bytes
    std::memcpy(&id, tensor.bytes.data() + at, size_of(tensor.dtype));
    ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

const Shape& Arrays::shape(const std::string& name) const { return find(name).shape; }

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace qkv::test
