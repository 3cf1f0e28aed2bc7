#include "qkv/ops/activation.hpp"

#include <algorithm>

#include "qkv/ops/error_function.hpp"
#include "qkv/ops/exponential.hpp"
#include "qkv/ops/parallel.hpp"

namespace qkv::ops {
namespace {

float silu(float x) { return x / (1.0F + exponential(-x)); }

/// 1 + tanh(u) is 2 / (1 + exp(-2u)): one exponential instead of a tanh, and no cancellation where tanh(u) is near -1.
float gelu_tanh(float x) {
  constexpr float twice_root = 1.5957691216057308F;  // 2 sqrt(2 / pi)
  return x / (1.0F + exponential(-twice_root * (x + 0.044715F * x * x * x)));
}

float gelu_erf(float x) {
  constexpr float inverse_root_2 = 0.7071067811865476F;
  return 0.5F * x * one_plus_erf(x * inverse_root_2);
}

float relu(float x) { return x < 0.0F ? 0.0F : x; }

template <float (*Function)(float)>
void apply(MatrixView x) {
  for_runs_of_rows(x.rows, x.cols, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = first; t < first + rows; ++t) {
      auto* numbers = x.row(t).data();
#pragma omp simd
      for (std::int64_t i = 0; i < x.cols; ++i) numbers[i] = Function(numbers[i]);
    }
  });
}

}  // namespace

void activate(Activation activation, MatrixView x) {
  switch (activation) {
    case Activation::gelu_tanh:
      return apply<gelu_tanh>(x);
    case Activation::gelu_erf:
      return apply<gelu_erf>(x);
    case Activation::silu:
      return apply<silu>(x);
    case Activation::relu:
      return apply<relu>(x);
  }
}

}  // namespace qkv::ops
