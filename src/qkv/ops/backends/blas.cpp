#include "qkv/ops/backends/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <string_view>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace qkv::ops::blas {
namespace {

/// BLAS takes 32-bit sizes; ours come from a Config, whose widths are checked to be far below that.
blasint narrow(std::int64_t size) { return static_cast<blasint>(size); }

void multiply(CBLAS_TRANSPOSE transpose_b, float alpha, ConstMatrixView a, ConstMatrixView b, float beta,
              MatrixView c) {
  if (c.rows == 1) {  // the library's matrix-vector product is about three times as fast for a single row
    const auto transpose = transpose_b == CblasTrans ? CblasNoTrans : CblasTrans;
    cblas_sgemv(CblasRowMajor, transpose, narrow(b.rows), narrow(b.cols), alpha, b.data, narrow(b.stride), a.data, 1,
                beta, c.data, 1);
    return;
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_b, narrow(c.rows), narrow(c.cols), narrow(a.cols), alpha, a.data,
              narrow(a.stride), b.data, narrow(b.stride), beta, c.data, narrow(c.stride));
}

}  // namespace

void multiply(float alpha, ConstMatrixView a, ConstMatrixView b, float beta, MatrixView c) {
  multiply(CblasNoTrans, alpha, a, b, beta, c);
}

void multiply_transposed(float alpha, ConstMatrixView a, ConstMatrixView b, float beta, MatrixView c) {
  multiply(CblasTrans, alpha, a, b, beta, c);
}

void transpose(ConstMatrixView a, MatrixView out) {
  cblas_somatcopy(CblasRowMajor, CblasTrans, narrow(a.rows), narrow(a.cols), 1.0F, a.data, narrow(a.stride), out.data,
                  narrow(out.stride));
}

/// As in OpenBLAS 0.3.21, kernel/x86_64/sgemm_small_kernel_permit_skylakex.c: 100 x 100 x 100. Where a version has it
/// not, results are the same and only come later.
std::int64_t largest_in_place() {
  static constexpr std::array<std::string_view, 3> kernels{"SkylakeX", "Cooperlake", "SapphireRapids"};
  static const bool has_kernel = std::find(kernels.begin(), kernels.end(), kernel()) != kernels.end();
  return has_kernel ? 1'000'000 : 0;
}

int set_threads(int threads) {
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
  const int granted = openblas_get_num_threads();
#ifdef _OPENMP
  omp_set_num_threads(granted);  // OpenMP keeps a number for each thread that opens a region
#endif
  return granted;
}

std::string library() { return openblas_get_config(); }

std::string kernel() { return openblas_get_corename(); }

}  // namespace qkv::ops::blas
