#pragma once

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// The two GELUs differ by up to 5e-4 a call, so each has its own name.
enum class Activation {
  gelu_tanh,  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016, their approximation
  gelu_erf,   // x/2 (1 + erf(x / sqrt(2))), the same paper, exact
  silu,       // x / (1 + exp(-x))
  relu,       // max(x, 0)
};

/// Applies the function to every number of x, in place.
void activate(Activation activation, MatrixView x);

}  // namespace qkv::ops
