#include "qkv/ops/backends/openblas_linear.hpp"

#include "qkv/ops/backends/blas.hpp"

namespace qkv::ops {
namespace {

class OpenBlasLinear : public LinearKernel {
 public:
  explicit OpenBlasLinear(const LearnedMatrix& matrix) : matrix_(matrix) {}

  void add_product(ConstMatrixView x, MatrixView y) const override {
    if (matrix_.layout == Layout::out_in)
      blas::multiply_transposed(1.0F, x, matrix_.numbers, 1.0F, y);
    else
      blas::multiply(1.0F, x, matrix_.numbers, 1.0F, y);
  }

 private:
  LearnedMatrix matrix_;
};

}  // namespace

LinearBackend openblas_linear() {
  return {"openblas", [](const LearnedMatrix& matrix) -> std::unique_ptr<LinearKernel> {
            return std::make_unique<OpenBlasLinear>(matrix);
          }};
}

}  // namespace qkv::ops
