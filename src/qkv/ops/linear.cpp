#include "qkv/ops/linear.hpp"

#include <algorithm>
#include <array>

#ifdef QKV_ONEDNN
#include "qkv/ops/backends/onednn_linear.hpp"
#endif
#include "qkv/ops/backends/openblas_linear.hpp"

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
               Precision precision)
    : kernel_(backend.prepare(matrix, bias, precision)), out_(matrix.out()), in_(matrix.in()) {}

}  // namespace qkv::ops
