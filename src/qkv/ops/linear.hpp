#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
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

/// The arithmetic of a product. bf16: inputs and weights are rounded to it, to nearest even; their products are summed
/// up in f32, and bias and outputs are f32.
enum class Precision { f32, bf16 };
/// "f32" or "bf16".
[[nodiscard]] std::string_view name_of(Precision precision);

/// The arithmetic of one map. `input_group`: inputs are first rounded by round_in_groups, 0: they are not.
struct LinearArithmetic {
  Precision precision = Precision::f32;
  std::int64_t input_group = 0;
};

/// How one backend multiplies by one learned matrix. It may keep the matrix in any form it likes.
class LinearKernel {
 public:
  virtual ~LinearKernel() = default;
  /// y = x Wᵀ + b;  x [T, in], y [T, out].
  virtual void apply(ConstMatrixView x, MatrixView y) const = 0;
  /// Rows from a multiple of this number on, if there are at least two or if it is 1, come out the same, bit for bit,
  /// when those before them are left away. 0: they do not.
  [[nodiscard]] virtual std::int64_t row_block() const = 0;
};

/// Who multiplies by the learned matrices.
struct LinearBackend {
  std::string_view name;
  std::span<const Precision> precisions;  // that it offers
  bool packs;                             // keeps each matrix in a form of its own: the loaded one may go afterwards
  bool (*is_fast)(Precision precision);   // whether this processor has instructions for what it does
  std::string (*library)();               // whose code it is, with a version
  /// `bias` is [out] or empty; it must outlive the kernel, and so must the matrix unless the backend packs. The
  /// precision is one that is offered.
  std::unique_ptr<LinearKernel> (*prepare)(const LearnedMatrix& matrix, std::span<const float> bias,
                                           Precision precision);

  [[nodiscard]] bool offers(Precision precision) const;
};

/// The backends built in, the fastest for large matrices first, the one that multiplies by the loaded numbers as they
/// lie last. A new backend is one more file under backends/ and a line here.
[[nodiscard]] std::span<const LinearBackend> linear_backends();

/// A learned linear map, y = x Wᵀ + b.
class Linear {
 public:
  Linear() = default;
  /// As LinearBackend::prepare says.
  Linear(const LinearBackend& backend, const LearnedMatrix& matrix, std::span<const float> bias,
         const LinearArithmetic& arithmetic = {});

  /// y = x Wᵀ + b;  x [T, in], y [T, out].
  void apply(ConstMatrixView x, MatrixView y) const;

  [[nodiscard]] std::int64_t out() const { return out_; }
  [[nodiscard]] std::int64_t in() const { return in_; }
  /// As LinearKernel says; 1 where there is no matrix at all.
  [[nodiscard]] std::int64_t row_block() const { return kernel_ ? kernel_->row_block() : 1; }

 private:
  std::unique_ptr<LinearKernel> kernel_;
  std::int64_t out_ = 0;
  std::int64_t in_ = 0;
  std::int64_t input_group_ = 0;
};

/// The row_block that holds for all of them.
[[nodiscard]] std::int64_t common_row_block(std::initializer_list<const Linear*> maps);

}  // namespace qkv::ops
