#pragma once

#include <algorithm>
#include <cmath>

#include "qkv/ops/exponential.hpp"

namespace qkv::ops {

/// 1 + erf(x) within 2e-7, and below 0, where it is small, within 4e-6 of it; 0 below -4.2, NaN stays NaN. Like
/// exponential() without a branch or a call.
///
/// Near 0, erf(x) = x P(x^2); further out, 1 - erf(|x|) = exp(-Q(|x|)). P and Q are the Chebyshev fits of their degree
/// to erf(sqrt(t)) / sqrt(t) for t up to 0.95^2 and to -ln(erfc(a)) for a from 0.95 to 4.2, by mpmath's chebyfit.
inline float one_plus_erf(float x) {
  constexpr float edge = 0.95F;
  constexpr float end = 4.2F;
  const float a = std::min(std::abs(x), end);
  const float t = x * x;
  float near = 8.20416972e-05F;
  near = near * t - 8.10291560e-04F;
  near = near * t + 5.19748731e-03F;
  near = near * t - 2.68579591e-02F;
  near = near * t + 1.12836696e-01F;
  near = near * t - 3.76126319e-01F;
  near = near * t + 1.12837923e+00F;
  float far = -1.55642567e-06F;
  far = far * a + 4.45039077e-05F;
  far = far * a - 5.84086229e-04F;
  far = far * a + 4.70191520e-03F;
  far = far * a - 2.62629185e-02F;
  far = far * a + 1.09811738e-01F;
  far = far * a + 6.32100523e-01F;
  far = far * a + 1.13007879e+00F;
  far = far * a - 2.83348374e-04F;
  const float rest = a >= end ? 0.0F : exponential(-far);
  const float outer = x < 0.0F ? rest : 2.0F - rest;
  return a < edge ? 1.0F + x * near : outer;
}

}  // namespace qkv::ops
