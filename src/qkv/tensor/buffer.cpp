#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <new>

#include "qkv/tensor/matrix.hpp"

namespace qkv {
namespace {

constexpr std::size_t vector_bytes = 64;
constexpr std::size_t huge_page = std::size_t{1} << 21U;
constexpr std::size_t worth_huge_pages = 4 * huge_page;  // the last page may be nearly empty
constexpr std::int64_t most_numbers = std::numeric_limits<std::int64_t>::max() / 8;

float* allocate(std::int64_t count) {
  if (count < 0 || count > most_numbers) throw std::bad_alloc();
  const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
  const auto alignment = bytes >= worth_huge_pages ? huge_page : vector_bytes;
  const auto whole = std::max<std::size_t>(1, (bytes + alignment - 1) / alignment) * alignment;
  void* data = std::aligned_alloc(alignment, whole);
  if (data == nullptr) throw std::bad_alloc();
  if (alignment == huge_page) ::madvise(data, whole, MADV_HUGEPAGE);  // a wish: systems without them say no
  return static_cast<float*>(data);
}

}  // namespace

Buffer::Buffer(std::int64_t count) : data_(allocate(count)), size_(count) {}

}  // namespace qkv
