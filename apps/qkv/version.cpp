#include "version.hpp"

#include <fmt/format.h>

#include <string_view>

#include "qkv/ops/backends/blas.hpp"
#include "qkv/ops/linear.hpp"

namespace qkv::app {
namespace {

std::string_view compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

/// The widest vector instructions that the program itself was compiled for; BLAS chooses its own at run time.
std::string_view simd_level() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__AVX__)
  return "AVX";
#elif defined(__ARM_NEON)
  return "NEON";
#else
  return "baseline";
#endif
}

}  // namespace

Build build() {
  return {QKV_VERSION, std::string(compiler()), std::string(simd_level()), ops::blas::library(), ops::blas::kernel()};
}

std::string version_text() {
  std::string backends;
  for (const auto& backend : ops::linear_backends()) {
    backends += fmt::format("{}{} (", backends.empty() ? " " : ", ", backend.name);
    for (const auto precision : backend.precisions)
      backends += fmt::format("{}{}", precision == backend.precisions.front() ? "" : ", ", ops::name_of(precision));
    if (backend.packs) backends += fmt::format("; {}", backend.library());
    backends += ")";
  }
  const auto built = build();
  return fmt::format("qkv {}\ncompiler: {}\nBLAS: {}\nBLAS kernel: {}\nSIMD: {}\nbackends:{}", built.version,
                     built.compiler, built.blas, built.blas_kernel, built.simd, backends);
}

}  // namespace qkv::app
