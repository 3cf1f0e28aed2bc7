#include "qkv/ops/backends/onednn_linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "qkv/core/error.hpp"
#include "qkv/ops/backends/onednn_products.hpp"
#include "qkv/tensor/dtype.hpp"

namespace qkv::ops {
namespace {

using onednn::Products;
using onednn::room;
using Type = dnnl::memory::data_type;

bool is_fast(Precision precision) {
  const auto wanted = precision == Precision::bf16 ? dnnl::cpu_isa::avx512_core_bf16 : dnnl::cpu_isa::avx512_core;
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

std::string library() {
  const auto* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

void take_row(std::span<const float> from, std::uint16_t* to) { round_to_bf16(from.data(), from.size(), to); }

void take_row(std::span<const float> from, float* to) { std::copy(from.begin(), from.end(), to); }

/// Rounded to bf16 and widened again.
void round_row(std::span<float> row) {
  auto* bits = reinterpret_cast<std::uint16_t*>(room<1>(row.size_bytes()));
  round_to_bf16(row.data(), row.size(), bits);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = widen_bf16(bits[i]);
}

class OneDnnLinear : public LinearKernel {
 public:
  OneDnnLinear(const LearnedMatrix& matrix, std::span<const float> bias, Precision precision)
      : type_(precision == Precision::bf16 && onednn::multiplies_bf16() ? Type::bf16 : Type::f32),
        rounds_(precision == Precision::bf16 && type_ == Type::f32),
        bias_(bias),
        products_(Products::shared({matrix.in(), matrix.out(), type_})),
        W_(rounds_ ? pack_rounded(matrix) : pack(matrix)) {}

  void apply(ConstMatrixView x, MatrixView y) const override {
    try {
      if (type_ == Type::bf16)
        multiply(taken<std::uint16_t>(x), y);
      else
        multiply(rounds_ || has_gaps(x) ? taken<float>(x) : x.data, y);
    } catch (const dnnl::error& error) {
      throw Error(ErrorCode::failed,
                  fmt::format("backend onednn: {} rows cannot be multiplied by a matrix of {} by {}: {}", x.rows,
                              y.cols, x.cols, error.what()));
    }
  }

  [[nodiscard]] std::int64_t row_block() const override { return products_->rows_stand_alone() ? 1 : 0; }

 private:
  template <typename View>
  static bool has_gaps(const View& view) {
    return view.rows > 1 && view.stride != view.cols;
  }

  [[nodiscard]] Buffer pack(const LearnedMatrix& matrix) const {
    return products_->pack(matrix, Buffer::beside_others(products_->packed_size()));
  }

  [[nodiscard]] Buffer pack_rounded(const LearnedMatrix& matrix) const {
    const auto& from = matrix.numbers;
    const Buffer numbers(from.rows * from.cols);
    const auto rounded = numbers.view(from.rows, from.cols);
    for (std::int64_t r = 0; r < from.rows; ++r) {
      take_row(from.row(r), rounded.row(r).data());
      round_row(rounded.row(r));
    }
    return pack({rounded, matrix.layout});
  }

  /// x in the number type T without gaps, and behind it a 0.
  template <typename T>
  [[nodiscard]] const T* taken(ConstMatrixView x) const {
    const auto count = x.rows * x.cols;
    auto* to = reinterpret_cast<T*>(room<2>(static_cast<std::size_t>(count + 1) * sizeof(T)));
#pragma omp parallel for schedule(static) if (x.rows > 1)
    for (std::int64_t t = 0; t < x.rows; ++t) {
      take_row(x.row(t), to + t * x.cols);
      if constexpr (std::is_same_v<T, float>)
        if (rounds_) round_row({to + t * x.cols, static_cast<std::size_t>(x.cols)});
    }
    to[count] = T{};
    return to;
  }

  template <typename T>
  void multiply(const T* x, MatrixView y) const {
    if (!has_gaps(y)) return products_->multiply(x, y.rows, W_, bias_, y.data);
    auto* numbers = reinterpret_cast<float*>(room<3>(static_cast<std::size_t>(y.rows * y.cols) * sizeof(float)));
    products_->multiply(x, y.rows, W_, bias_, numbers);
    for (std::int64_t t = 0; t < y.rows; ++t) std::copy_n(numbers + t * y.cols, y.cols, y.row(t).begin());
  }

  Type type_;
  bool rounds_;  // where the library does not multiply in bf16: rounded numbers are kept as f32
  std::span<const float> bias_;
  std::shared_ptr<const Products> products_;
  Buffer W_;
};

std::unique_ptr<LinearKernel> prepare(const LearnedMatrix& matrix, std::span<const float> bias, Precision precision) {
  try {
    return std::make_unique<OneDnnLinear>(matrix, bias, precision);
  } catch (const dnnl::error& error) {
    throw Error(ErrorCode::failed, fmt::format("backend onednn: a matrix of {} by {} cannot be packed: {}",
                                               matrix.out(), matrix.in(), error.what()));
  }
}

}  // namespace

LinearBackend onednn_linear() {
  static constexpr std::array precisions{Precision::f32, Precision::bf16};
  return {"onednn", precisions, true, is_fast, library, prepare};
}

}  // namespace qkv::ops
