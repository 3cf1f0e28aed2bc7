#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace qkv {

/// A window on rows of f32 numbers: element (r, c) is data[r * stride + c]. A view owns nothing and costs nothing to
/// copy; a window of columns keeps the stride, so that a head is a slice of q, k or v without a copy.
template <typename T>
struct BasicMatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  BasicMatrixView() = default;
  BasicMatrixView(T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  BasicMatrixView(T* data_, std::int64_t rows_, std::int64_t cols_) : BasicMatrixView(data_, rows_, cols_, cols_) {}
  /// A view that may write is a view that may read.
  operator BasicMatrixView<const T>() const { return {data, rows, cols, stride}; }  // NOLINT(google-explicit-*)

  [[nodiscard]] std::span<T> row(std::int64_t r) const { return {data + r * stride, static_cast<std::size_t>(cols)}; }
  [[nodiscard]] T& at(std::int64_t r, std::int64_t c) const { return data[r * stride + c]; }
  /// Rows first .. first + count.
  [[nodiscard]] BasicMatrixView rows_window(std::int64_t first, std::int64_t count) const {
    return {data + first * stride, count, cols, stride};
  }
  /// Columns first .. first + count.
  [[nodiscard]] BasicMatrixView columns(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }
};

using MatrixView = BasicMatrixView<float>;
using ConstMatrixView = BasicMatrixView<const float>;

/// Owns f32 numbers, aligned for vector loads, not cleared: what is read was written before. Large ones lie in huge
/// pages where the system gives them: otherwise how fast they are read depends on where their pages happened to be.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t count);
  /// In one block of memory with others that were asked for this way, so that small ones get huge pages too. The block
  /// goes with the last of them: meant for what goes together, as the weights of a model do.
  [[nodiscard]] static Buffer beside_others(std::int64_t count);
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  [[nodiscard]] float* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// The first rows * cols numbers as a matrix without gaps.
  [[nodiscard]] MatrixView view(std::int64_t rows, std::int64_t cols) const { return {data_.get(), rows, cols}; }

 private:
  Buffer(std::shared_ptr<float> data, std::int64_t count) : data_(std::move(data)), size_(count) {}

  std::shared_ptr<float> data_;  // nobody else's: shared is only the block that it may be a part of
  std::int64_t size_ = 0;
};

}  // namespace qkv
