#include "qkv/ops/linear.hpp"

#include <algorithm>
#include <array>

#ifdef QKV_ONEDNN
#include "qkv/ops/backends/onednn_linear.hpp"
#endif
#include "qkv/ops/backends/openblas_linear.hpp"
#include "qkv/ops/rounding.hpp"

namespace qkv::ops {

std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

bool LinearBackend::offers(Precision precision) const {
  return std::find(precisions.begin(), precisions.end(), precision) != precisions.end();
}

std::span<const LinearBackend> linear_backends() {
  static const std::array backends{
#ifdef QKV_ONEDNN
      onednn_linear(),
#endif
      openblas_linear()};
  return backends;
}

Linear::Linear(const LinearBackend& backend, const LearnedMatrix& matrix, std::span<const float> bias,
               const LinearArithmetic& arithmetic)
    : kernel_(backend.prepare(matrix, bias, arithmetic.precision)),
      out_(matrix.out()),
      in_(matrix.in()),
      input_group_(arithmetic.input_group) {}

void Linear::apply(ConstMatrixView x, MatrixView y) const {
  if (input_group_ == 0) {
    kernel_->apply(x, y);
    return;
  }
  const Buffer rounded(x.rows * x.cols);
  round_in_groups(x, input_group_, rounded.view(x.rows, x.cols));
  kernel_->apply(rounded.view(x.rows, x.cols), y);
}

std::int64_t common_row_block(std::initializer_list<const Linear*> maps) {
  std::int64_t common = 1;
  for (const auto* map : maps) {
    const auto block = map->row_block();
    if (block == 0 || (common % block != 0 && block % common != 0)) return 0;
    common = std::max(common, block);
  }
  return common;
}

}  // namespace qkv::ops
