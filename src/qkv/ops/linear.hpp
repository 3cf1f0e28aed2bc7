#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// How a learned matrix lies in memory: one row per output (most checkpoints) or one row per input.
enum class Layout { out_in, in_out };

/// A learned matrix in the form it was loaded in, not owned. `numbers` is [out, in] or [in, out] as `layout` says.
struct LearnedMatrix {
  ConstMatrixView numbers;
  Layout layout = Layout::out_in;

  [[nodiscard]] std::int64_t out() const { return layout == Layout::out_in ? numbers.rows : numbers.cols; }
  [[nodiscard]] std::int64_t in() const { return layout == Layout::out_in ? numbers.cols : numbers.rows; }
};

/// How one backend multiplies by one learned matrix. It may keep the matrix in any form it likes.
class LinearKernel {
 public:
  virtual ~LinearKernel() = default;
  /// y += x Wᵀ;  x [T, in], y [T, out].
  virtual void add_product(ConstMatrixView x, MatrixView y) const = 0;
};

/// Who multiplies by the learned matrices.
struct LinearBackend {
  std::string_view name;
  std::unique_ptr<LinearKernel> (*prepare)(const LearnedMatrix& matrix);
};

/// The backends built in, the preferred one first. A new backend is one more file under backends/ and a line here.
[[nodiscard]] std::span<const LinearBackend> linear_backends();

/// A learned linear map, y = x Wᵀ + b.
class Linear {
 public:
  Linear() = default;
  /// `bias` is [out] or empty. Both must outlive the map, unless the backend keeps a form of its own.
  Linear(const LinearBackend& backend, const LearnedMatrix& matrix, std::span<const float> bias);

  /// y = x Wᵀ + b;  x [T, in], y [T, out].
  void apply(ConstMatrixView x, MatrixView y) const;

  [[nodiscard]] std::int64_t out() const { return out_; }
  [[nodiscard]] std::int64_t in() const { return in_; }

 private:
  std::unique_ptr<LinearKernel> kernel_;
  std::span<const float> bias_;
  std::int64_t out_ = 0;
  std::int64_t in_ = 0;
};

}  // namespace qkv::ops
