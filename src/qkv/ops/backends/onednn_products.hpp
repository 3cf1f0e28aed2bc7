#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "qkv/ops/backends/panel_product.hpp"
#include "qkv/ops/linear.hpp"

/// Products by packed matrices of one shape. Its errors are dnnl::error.
namespace qkv::ops::onednn {

/// What a set of primitives is for; the same for many matrices of a model.
struct Shape {
  std::int64_t in;
  std::int64_t out;
  dnnl::memory::data_type type;
  auto operator<=>(const Shape&) const = default;
};

/// Room of this thread for one purpose, which only grows.
template <int purpose>
std::byte* room(std::size_t bytes) {
  static thread_local Buffer numbers;
  const auto count = static_cast<std::int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
  if (numbers.size() < count) numbers = Buffer(count);
  return reinterpret_cast<std::byte*>(numbers.data());
}

/// Everything that the matrices of one shape have in common. Safe to use from several threads.
class Products {
 public:
  explicit Products(const Shape& shape);

  /// Those of a shape, made when the first matrix of that shape comes.
  static std::shared_ptr<const Products> shared(const Shape& shape);

  /// The packed matrix, in `W`, which has room for packed_size() numbers.
  [[nodiscard]] Buffer pack(const LearnedMatrix& matrix, Buffer W) const;
  [[nodiscard]] std::int64_t packed_size() const {
    return static_cast<std::int64_t>((packed_.get_size() + sizeof(float) - 1) / sizeof(float));
  }

  /// Whether a row comes out the same, bit for bit, alone as among others.
  [[nodiscard]] bool rows_stand_alone() const { return piece_.has_value(); }

  /// y = x Wᵀ + b;  x [T, in], in the number type of the shape, y [T, out], both without gaps between rows: with gaps
  /// the library falls back to plain loops. In bf16 there is a 0 behind x.
  template <typename T>
  void multiply(const T* x, std::int64_t rows, const Buffer& W, std::span<const float> bias, float* y) const {
    if (is_for_panels(rows))
      multiply_panels(x, rows, panels(W), bias.empty() ? nullptr : bias.data(), piece_.value_or(usual_piece), y);
    else
      multiply_rows(x, rows, W, bias, y);
  }

 private:
  static constexpr std::int64_t usual_rows = 64;  // the form asked for is the same for every number of rows
  static constexpr std::int64_t usual_piece = 512;
  /// Up to which our own product is the faster one, where its sums are the same: 1.5 times as fast with 2 rows, 1.2
  /// times with 16, 1.05 with 64, 1.02 with 128, on matrices of 768 by 768 to 3072 on two cores; as fast with 256. Of
  /// each thread, where they share the rows: with 512 in bf16 3 % faster where caches are far from each other, as fast
  /// otherwise.
  static constexpr std::int64_t few_rows = 256;
  static constexpr std::size_t most_prepared = 32;  // numbers of rows to keep primitives for, about 40 KB each

  struct Key {
    std::int64_t rows;
    int threads;  // a primitive divides its work among those there were when it was made
    bool operator==(const Key&) const = default;
  };
  struct Prepared {
    Key key;
    dnnl::memory::desc scratch;
    dnnl::matmul product;
  };

  [[nodiscard]] dnnl::memory::desc x_desc(std::int64_t rows) const;
  [[nodiscard]] dnnl::memory::desc y_desc(std::int64_t rows) const;
  [[nodiscard]] dnnl::memory::desc bias_desc() const;
  [[nodiscard]] Panels panels(const Buffer& W) const {
    return {reinterpret_cast<const std::byte*>(W.data()), shape_.in, shape_.out, *panel_bytes_};
  }

  [[nodiscard]] bool is_for_panels(std::int64_t rows) const;
  void multiply_rows(const void* x, std::int64_t rows, const Buffer& W, std::span<const float> bias, float* y) const;
  [[nodiscard]] std::shared_ptr<const Prepared> prepared_for(const Key& key) const;
  [[nodiscard]] std::optional<std::int64_t> found_piece() const;
  template <typename T>
  [[nodiscard]] std::optional<std::int64_t> found_piece(const std::vector<T>& x, const Buffer& W) const;

  Shape shape_;
  dnnl::memory::desc packed_;
  std::optional<std::int64_t> panel_bytes_;
  std::vector<float> no_bias_;         // zeros
  std::optional<std::int64_t> piece_;  // of the product of one row, where it is known
  mutable std::shared_mutex mutex_;
  mutable std::vector<std::shared_ptr<const Prepared>> prepared_;  // the oldest first
};

/// Whether the library multiplies in bf16 on this processor at all.
[[nodiscard]] bool multiplies_bf16();

}  // namespace qkv::ops::onednn
