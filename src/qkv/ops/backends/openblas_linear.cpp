#include "qkv/ops/backends/openblas_linear.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "qkv/ops/backends/blas.hpp"

namespace qkv::ops {
namespace {

constexpr std::int64_t block_rows = 16;                        // of one product with a small matrix
constexpr std::int64_t small_matrix = std::int64_t{1} << 18U;  // numbers: the MLP of a model 256 wide

class OpenBlasLinear : public LinearKernel {
 public:
  OpenBlasLinear(const LearnedMatrix& matrix, std::span<const float> bias)
      : matrix_(matrix), bias_(bias), small_(matrix.out() * matrix.in() <= small_matrix) {
    if (small_ && matrix.layout == Layout::out_in) transpose();
  }

  void apply(ConstMatrixView x, MatrixView y) const override {
    if (small_ && x.rows > 1)
      multiply_in_blocks(x, y);
    else
      multiply(x, y);
  }

  [[nodiscard]] std::int64_t row_block() const override { return small_ ? block_rows : 0; }

 private:
  /// The library is about a third faster when a small matrix lies as [in, out].
  void transpose() {
    const auto from = matrix_.numbers;
    transposed_ = Buffer(from.rows * from.cols);
    const auto to = transposed_.view(from.cols, from.rows);
    constexpr std::int64_t strip = 32;  // rows at a time, so that both sides stay in the cache
    for (std::int64_t begin = 0; begin < from.rows; begin += strip)
      for (std::int64_t j = 0; j < from.cols; ++j)
        for (auto i = begin; i < std::min(begin + strip, from.rows); ++i) to.at(j, i) = from.at(i, j);
    matrix_ = {to, Layout::in_out};
  }

  void multiply(ConstMatrixView x, MatrixView y) const {
    for (std::int64_t t = 0; !bias_.empty() && t < y.rows; ++t) std::copy(bias_.begin(), bias_.end(), y.row(t).begin());
    const float beta = bias_.empty() ? 0.0F : 1.0F;
    if (matrix_.layout == Layout::out_in)
      blas::multiply_transposed(1.0F, x, matrix_.numbers, beta, y);
    else
      blas::multiply(1.0F, x, matrix_.numbers, beta, y);
  }

  /// Always so many rows, a last block filled up with zeros: a row then comes out the same, bit for bit, however many
  /// there are, which the library promises for no other way of calling it. For a small matrix this costs nothing.
  void multiply_in_blocks(ConstMatrixView x, MatrixView y) const {
    std::int64_t row = 0;
    for (; row + block_rows <= x.rows; row += block_rows)
      multiply(x.rows_window(row, block_rows), y.rows_window(row, block_rows));
    const auto rest = x.rows - row;
    if (rest == 0) return;
    std::vector<float> numbers(static_cast<std::size_t>(block_rows * (x.cols + y.cols)), 0.0F);
    const MatrixView filled_x(numbers.data(), block_rows, x.cols);
    const MatrixView filled_y(numbers.data() + block_rows * x.cols, block_rows, y.cols);
    copy(x.rows_window(row, rest), filled_x);
    multiply(filled_x, filled_y);
    copy(filled_y.rows_window(0, rest), y.rows_window(row, rest));
  }

  static void copy(ConstMatrixView from, MatrixView to) {
    for (std::int64_t t = 0; t < from.rows; ++t) std::copy_n(from.row(t).begin(), from.cols, to.row(t).begin());
  }

  LearnedMatrix matrix_;
  std::span<const float> bias_;
  bool small_;
  Buffer transposed_;
};

}  // namespace

LinearBackend openblas_linear() {
  static constexpr std::array precisions{Precision::f32};
  return {"openblas",
          precisions,
          false,
          [](Precision) { return true; },
          [] { return blas::library(); },
          [](const LearnedMatrix& matrix, std::span<const float> bias, Precision) -> std::unique_ptr<LinearKernel> {
            return std::make_unique<OpenBlasLinear>(matrix, bias);
          }};
}

}  // namespace qkv::ops
