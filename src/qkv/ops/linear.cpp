#include "qkv/ops/linear.hpp"

#include <algorithm>
#include <array>

#include "qkv/ops/backends/openblas_linear.hpp"

namespace qkv::ops {

std::span<const LinearBackend> linear_backends() {
  static const std::array backends{openblas_linear()};
  return backends;
}

Linear::Linear(const LinearBackend& backend, const LearnedMatrix& matrix, std::span<const float> bias)
    : kernel_(backend.prepare(matrix)), bias_(bias), out_(matrix.out()), in_(matrix.in()) {}

void Linear::apply(ConstMatrixView x, MatrixView y) const {
  for (std::int64_t t = 0; t < y.rows; ++t) {
    const auto row = y.row(t);
    if (bias_.empty())
      std::fill(row.begin(), row.end(), 0.0F);
    else
      std::copy(bias_.begin(), bias_.end(), row.begin());
  }
  kernel_->add_product(x, y);
}

}  // namespace qkv::ops
