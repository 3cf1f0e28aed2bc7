#include "qkv/model/random_weights.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "qkv/core/checked.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/processors.hpp"
#include "qkv/tensor/matrix.hpp"

namespace qkv {
namespace {

class RandomWeights : public WeightSource {
 public:
  explicit RandomWeights(std::int64_t count) : numbers_(count) {}

  void add(const AskedTensor& asked, std::int64_t first, std::int64_t count) {
    const std::span numbers(numbers_.data() + first, static_cast<std::size_t>(count));
    tensors_.push_back({asked.name, DType::f32, asked.shape, std::as_bytes(numbers), "memory"});
  }
  void sort() {
    std::sort(tensors_.begin(), tensors_.end(),
              [](const StoredTensor& a, const StoredTensor& b) { return a.name < b.name; });
  }

  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  [[nodiscard]] float* numbers() const { return numbers_.data(); }

 private:
  Buffer numbers_;  // one tensor after the other
  std::vector<StoredTensor> tensors_;
};

/// -1 <= u < 1 for the i-th number of a stream: the finalizer of MurmurHash3 (Appleby, 2011) over a counter, which a
/// compiler can do for many numbers at once.
float even(std::uint32_t stream, std::uint32_t i) {
  auto bits = (i * 0x9E3779B9U) ^ stream;
  bits = (bits ^ (bits >> 16U)) * 0x85EBCA6BU;
  bits = (bits ^ (bits >> 13U)) * 0xC2B2AE35U;
  bits ^= bits >> 16U;
  return static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-31F;
}

void fill(float* numbers, std::int64_t count, float middle, float spread, std::uint32_t stream) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = middle + spread * even(stream, static_cast<std::uint32_t>(i));
}

std::int64_t count_of(const AskedTensor& tensor) {
  const auto count = element_count(tensor.shape);
  if (!count)
    throw Error(ErrorCode::model, fmt::format("tensor '{}': expected a shape that can be counted, found {}",
                                              tensor.name, to_string(tensor.shape)));
  return *count;
}

/// All numbers together. More than the machine has would not fail here but end the process later, or another.
std::int64_t count_of(const std::vector<AskedTensor>& asked) {
  const auto memory = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  std::int64_t total = 0;
  for (const auto& tensor : asked) {
    total += std::min(count_of(tensor), memory);
    if (total > memory / static_cast<std::int64_t>(sizeof(float)))
      throw Error(ErrorCode::model,
                  fmt::format("weights: expected at most the machine's memory, {} MB, found more", memory >> 20U));
  }
  return total;
}

/// A part of a tensor that one thread fills at once.
struct Piece {
  float* numbers;
  std::int64_t count;
  bool gain;
  std::uint32_t stream;
};

void fill_all(const std::vector<Piece>& pieces) {
  const auto workers = static_cast<std::size_t>(usable_processors());
  const auto work = [&](std::size_t first) {
    for (auto i = first; i < pieces.size(); i += workers)
      fill(pieces[i].numbers, pieces[i].count, pieces[i].gain ? 1.0F : 0.0F, pieces[i].gain ? 0.1F : 0.0346F,
           pieces[i].stream);
  };
  std::vector<std::jthread> threads;
  for (std::size_t first = 1; first < workers; ++first) threads.emplace_back(work, first);
  work(0);
}

}  // namespace

std::shared_ptr<const WeightSource> random_weights(const std::vector<AskedTensor>& asked, std::uint64_t seed) {
  constexpr std::int64_t piece = 1 << 20;
  auto source = std::make_shared<RandomWeights>(count_of(asked));
  std::vector<Piece> pieces;
  std::int64_t first = 0;
  for (const auto& tensor : asked) {
    const auto count = count_of(tensor);
    source->add(tensor, first, count);
    for (std::int64_t at = 0; at < count; at += piece) {
      const auto number = static_cast<std::uint32_t>(pieces.size());
      const auto stream = static_cast<std::uint32_t>(seed ^ (seed >> 32U)) + number * 0x27D4EB2FU;
      pieces.push_back({source->numbers() + first + at, std::min(piece, count - at), tensor.gain, stream});
    }
    first += count;
  }
  fill_all(pieces);
  source->sort();
  return source;
}

}  // namespace qkv
