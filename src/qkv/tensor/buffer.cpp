#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "qkv/tensor/matrix.hpp"

namespace qkv {
namespace {

constexpr std::size_t vector_bytes = 64;
constexpr std::size_t huge_page = std::size_t{1} << 21U;
constexpr std::size_t worth_huge_pages = 4 * huge_page;  // the last page may be nearly empty
constexpr std::int64_t most_numbers = std::numeric_limits<std::int64_t>::max() / 8;

std::size_t bytes_of(std::int64_t count) {
  if (count < 0 || count > most_numbers) throw std::bad_alloc();
  return static_cast<std::size_t>(count) * sizeof(float);
}

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::shared_ptr<float> allocate(std::int64_t count) {
  const auto bytes = bytes_of(count);
  const auto alignment = bytes >= worth_huge_pages ? huge_page : vector_bytes;
  const auto whole = round_up(std::max<std::size_t>(1, bytes), alignment);
  void* data = std::aligned_alloc(alignment, whole);
  if (data == nullptr) throw std::bad_alloc();
  if (alignment == huge_page) ::madvise(data, whole, MADV_HUGEPAGE);  // a wish: systems without them say no
  return {static_cast<float*>(data), [](float* numbers) { std::free(numbers); }};
}

/// A block that is given out from its beginning to its end.
struct Block {
  std::weak_ptr<float> numbers;
  std::int64_t used = 0;
};

}  // namespace

Buffer::Buffer(std::int64_t count) : data_(allocate(count)), size_(count) {}

Buffer Buffer::beside_others(std::int64_t count) {
  constexpr std::int64_t block_numbers = std::int64_t{1} << 23U;  // 32 MB; what is never touched costs nothing
  static std::mutex mutex;
  static Block block;
  const auto taken = static_cast<std::int64_t>(round_up(bytes_of(count), vector_bytes) / sizeof(float));
  if (taken > block_numbers / 4) return Buffer(count);
  const std::scoped_lock lock(mutex);
  auto whole = block.numbers.lock();
  if (whole == nullptr || taken > block_numbers - block.used) {
    whole = allocate(block_numbers);
    block = {whole, 0};
  }
  auto* const data = whole.get() + block.used;
  block.used += taken;
  return {std::shared_ptr<float>(std::move(whole), data), count};
}

}  // namespace qkv
