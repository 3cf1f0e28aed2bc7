#include "qkv/ops/backends/onednn_linear.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstring>
#include <dnnl.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <type_traits>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/ops/backends/panel_product.hpp"
#include "qkv/tensor/dtype.hpp"

namespace qkv::ops {
namespace {

using dnnl::memory;
using Type = memory::data_type;

const dnnl::engine& engine() {
  static const auto cpu = [] {
    dnnl::set_primitive_cache_capacity(32);  // its own; ours below knows better which ones are still wanted
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return cpu;
}

dnnl::stream& stream() {
  static thread_local dnnl::stream of_thread(engine());
  return of_thread;
}

/// How the blocks of a packed matrix lie: `sizes[i]` numbers along dimension `along[i]`, the last ones side by side.
struct Blocking {
  memory::dims sizes, along, strides;
};

// ---- what versions 2 and 3 of the library call differently

dnnl::matmul::primitive_desc describe(const memory::desc& x, const memory::desc& W, const memory::desc& bias,
                                      const memory::desc& y) {
  dnnl::primitive_attr own_room;
  own_room.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // so that any thread may run what another one made
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), x, W, bias, y, own_room};
#else
  return {dnnl::matmul::desc(x, W, bias, y), own_room, engine()};
#endif
}

Blocking blocking_of(const memory::desc& W) {
#if DNNL_VERSION_MAJOR >= 3
  if (W.get_format_kind() != memory::format_kind::blocked) return {};
  return {W.get_inner_blks(), W.get_inner_idxs(), W.get_strides()};
#else
  if (W.data.format_kind != dnnl_blocked) return {};
  const auto& found = W.data.format_desc.blocking;
  return {memory::dims(found.inner_blks, found.inner_blks + found.inner_nblks),
          memory::dims(found.inner_idxs, found.inner_idxs + found.inner_nblks),
          memory::dims(found.strides, found.strides + 2)};
#endif
}

// ----

std::size_t size_of(Type type) { return type == Type::bf16 ? sizeof(std::uint16_t) : sizeof(float); }

Precision precision_of(Type type) { return type == Type::bf16 ? Precision::bf16 : Precision::f32; }

/// What a set of primitives is for; the same for many matrices of a model.
struct Shape {
  std::int64_t in;
  std::int64_t out;
  Type type;
  auto operator<=>(const Shape&) const = default;
};

/// Bytes from one panel to the next when the packed matrix is what multiply_panels reads.
std::optional<std::int64_t> panel_bytes(const memory::desc& W, const Shape& shape) {
  const auto [sizes, along, strides] = blocking_of(W);
  const bool pairs = shape.type == Type::bf16;
  const auto inputs_then_outputs = pairs ? memory::dims{0, 1, 0} : memory::dims{0, 1};
  if (along != inputs_then_outputs || sizes[1] != panel_outputs || (pairs && sizes[2] != 2)) return std::nullopt;
  const auto inputs = pairs ? sizes[0] * 2 : sizes[0];
  if (strides[0] != inputs * panel_outputs || !has_panel_product(precision_of(shape.type))) return std::nullopt;
  return strides[1] * static_cast<std::int64_t>(size_of(shape.type));
}

/// Room of this thread for one purpose, which only grows.
template <int purpose>
std::byte* room(std::size_t bytes) {
  static thread_local Buffer numbers;
  const auto count = static_cast<std::int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
  if (numbers.size() < count) numbers = Buffer(count);
  return reinterpret_cast<std::byte*>(numbers.data());
}

/// Everything that the matrices of one shape have in common. Safe to use from several threads.
class Products {
 public:
  explicit Products(const Shape& shape)
      : shape_(shape),
        packed_(describe(x_desc(usual_rows), {{shape.in, shape.out}, shape.type, memory::format_tag::any}, bias_desc(),
                         y_desc(usual_rows))
                    .weights_desc()),
        panel_bytes_(panel_bytes(packed_, shape)),
        no_bias_(static_cast<std::size_t>(shape.out)) {}

  /// Those of a shape, made when the first matrix of that shape comes.
  static std::shared_ptr<const Products> shared(const Shape& shape);

  /// The packed matrix, in `W`, which has room for packed_size() numbers.
  [[nodiscard]] Buffer pack(const LearnedMatrix& matrix, Buffer W) const;
  [[nodiscard]] std::int64_t packed_size() const {
    return static_cast<std::int64_t>((packed_.get_size() + sizeof(float) - 1) / sizeof(float));
  }

  /// Whether a row comes out the same, bit for bit, alone as among others.
  [[nodiscard]] bool rows_stand_alone() const { return piece_.has_value(); }

  /// y = x Wᵀ + b;  x [T, in], in the number type of the shape, y [T, out], both without gaps between rows: with gaps
  /// the library falls back to plain loops. In bf16 there is a 0 behind x.
  template <typename T>
  void multiply(const T* x, std::int64_t rows, const Buffer& W, std::span<const float> bias, float* y) const {
    if (is_for_panels(rows))
      multiply_panels(x, rows, panels(W), bias.empty() ? nullptr : bias.data(), piece_.value_or(usual_piece), y);
    else
      multiply_rows(x, rows, W, bias, y);
  }

 private:
  static constexpr std::int64_t usual_rows = 64;  // the form asked for is the same for every number of rows
  static constexpr std::int64_t usual_piece = 512;
  /// Up to which our own product is the faster one, where its sums are the same: 1.5 times as fast with 2 rows, 1.2
  /// times with 16, 1.05 with 64, 1.02 with 128, on matrices of 768 by 768 to 3072 on two cores; as fast with 256.
  static constexpr std::int64_t few_rows = 256;
  static constexpr std::size_t most_prepared = 32;  // numbers of rows to keep primitives for, about 40 KB each

  struct Key {
    std::int64_t rows;
    int threads;  // a primitive divides its work among those there were when it was made
    bool operator==(const Key&) const = default;
  };
  struct Prepared {
    Key key;
    memory::desc scratch;
    dnnl::matmul product;
  };

  [[nodiscard]] memory::desc x_desc(std::int64_t rows) const {
    return {{rows, shape_.in}, shape_.type, memory::format_tag::ab};
  }
  [[nodiscard]] memory::desc y_desc(std::int64_t rows) const {
    return {{rows, shape_.out}, Type::f32, memory::format_tag::ab};
  }
  [[nodiscard]] memory::desc bias_desc() const { return {{1, shape_.out}, Type::f32, memory::format_tag::ab}; }
  [[nodiscard]] Panels panels(const Buffer& W) const {
    return {reinterpret_cast<const std::byte*>(W.data()), shape_.in, shape_.out, *panel_bytes_};
  }

  [[nodiscard]] bool is_for_panels(std::int64_t rows) const {
    if (!panel_bytes_ || rows > few_rows) return false;
    const bool in_pairs = shape_.type == Type::f32 || shape_.in % 2 == 0;
    return rows == 1 || (piece_ && in_pairs);
  }
  void multiply_rows(const void* x, std::int64_t rows, const Buffer& W, std::span<const float> bias, float* y) const;
  [[nodiscard]] std::shared_ptr<const Prepared> prepared_for(const Key& key) const;
  [[nodiscard]] std::optional<std::int64_t> found_piece() const;
  template <typename T>
  [[nodiscard]] std::optional<std::int64_t> found_piece(const std::vector<T>& x, const Buffer& W) const;

  Shape shape_;
  memory::desc packed_;
  std::optional<std::int64_t> panel_bytes_;
  std::vector<float> no_bias_;         // zeros
  std::optional<std::int64_t> piece_;  // of the product of one row, where it is known
  mutable std::shared_mutex mutex_;
  mutable std::vector<std::shared_ptr<const Prepared>> prepared_;  // the oldest first
};

Buffer Products::pack(const LearnedMatrix& matrix, Buffer W) const {
  const auto& [numbers, layout] = matrix;
  const auto strides = layout == Layout::out_in ? memory::dims{1, numbers.stride} : memory::dims{numbers.stride, 1};
  memory loaded(memory::desc({shape_.in, shape_.out}, Type::f32, strides), engine(), const_cast<float*>(numbers.data));
  memory packed(packed_, engine(), W.data());
  dnnl::reorder(loaded, packed).execute(stream(), loaded, packed);
  stream().wait();
  return W;
}

std::shared_ptr<const Products::Prepared> Products::prepared_for(const Key& key) const {
  const auto find = [&]() -> std::shared_ptr<const Prepared> {
    const auto is_it = [&](const auto& prepared) { return prepared->key == key; };
    const auto found = std::find_if(prepared_.rbegin(), prepared_.rend(), is_it);
    return found == prepared_.rend() ? nullptr : *found;
  };
  {
    const std::shared_lock reading(mutex_);
    if (auto found = find()) return found;
  }
  const std::unique_lock writing(mutex_);
  if (auto found = find()) return found;
  const auto described = describe(x_desc(key.rows), packed_, bias_desc(), y_desc(key.rows));
  if (prepared_.size() == most_prepared) prepared_.erase(prepared_.begin());
  return prepared_.emplace_back(
      std::make_shared<Prepared>(Prepared{key, described.scratchpad_desc(), dnnl::matmul(described)}));
}

void Products::multiply_rows(const void* x, std::int64_t rows, const Buffer& W, std::span<const float> bias,
                             float* y) const {
  const auto prepared = prepared_for({rows, omp_get_max_threads()});
  const auto* added = bias.empty() ? no_bias_.data() : bias.data();
  prepared->product.execute(
      stream(), {{DNNL_ARG_SRC, memory(x_desc(rows), engine(), const_cast<void*>(x))},
                 {DNNL_ARG_WEIGHTS, memory(packed_, engine(), W.data())},
                 {DNNL_ARG_BIAS, memory(bias_desc(), engine(), const_cast<float*>(added))},
                 {DNNL_ARG_DST, memory(y_desc(rows), engine(), y)},
                 {DNNL_ARG_SCRATCHPAD, memory(prepared->scratch, engine(), room<0>(prepared->scratch.get_size()))}});
  stream().wait();
}

/// oneDNN adds up long sums in pieces, whose length is its own business. The product of one row takes the same pieces,
/// so that a row comes out alone as it does among others, to the bit. They are found by trying.
std::optional<std::int64_t> Products::found_piece() const {
  constexpr std::int64_t enough_outputs = 256;
  const Products tried({shape_.in, std::min(shape_.out, enough_outputs), shape_.type});
  std::uint32_t state = 1;
  const auto next = [&state] {  // any numbers will do
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8U) * 0x1p-23F - 1.0F;
  };
  const Buffer numbers(tried.shape_.in * tried.shape_.out);
  std::generate_n(numbers.data(), numbers.size(), next);
  const auto W =
      tried.pack({numbers.view(tried.shape_.out, tried.shape_.in), Layout::out_in}, Buffer(tried.packed_size()));
  std::vector<float> x(static_cast<std::size_t>(shape_.in));
  std::generate(x.begin(), x.end(), next);
  if (shape_.type == Type::f32) return tried.found_piece(x, W);
  std::vector<std::uint16_t> rounded(x.size() + 1);
  round_to_bf16(x.data(), x.size(), rounded.data());
  return tried.found_piece(rounded, W);
}

template <typename T>
std::optional<std::int64_t> Products::found_piece(const std::vector<T>& x, const Buffer& W) const {
  const Buffer expected(shape_.out);
  const Buffer found(shape_.out);
  multiply_rows(x.data(), 1, W, {}, expected.data());
  for (const auto piece : {shape_.in + shape_.in % 2, usual_piece, std::int64_t{1024}, std::int64_t{256}}) {
    multiply_panels(x.data(), 1, panels(W), no_bias_.data(), piece, found.data());
    const auto bytes = static_cast<std::size_t>(shape_.out) * sizeof(float);
    if (std::memcmp(expected.data(), found.data(), bytes) == 0) return piece;
  }
  return std::nullopt;
}

std::shared_ptr<const Products> Products::shared(const Shape& shape) {
  static std::mutex mutex;
  static std::map<Shape, std::weak_ptr<const Products>> known;
  const std::scoped_lock lock(mutex);
  if (auto products = known[shape].lock()) return products;
  auto products = std::make_shared<Products>(shape);
  if (products->panel_bytes_) products->piece_ = products->found_piece();
  known[shape] = products;
  return products;
}

/// Whether the library multiplies in bf16 on this processor at all. Where it does not, rounded numbers are kept as f32.
bool multiplies_bf16() {
  static const bool answer = [] {
    try {
      (void)Products({64, 64, Type::bf16});
      return true;
    } catch (const dnnl::error&) {
      return false;
    }
  }();
  return answer;
}

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
      : type_(precision == Precision::bf16 && multiplies_bf16() ? Type::bf16 : Type::f32),
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
  bool rounds_;  // where the library does not multiply in bf16
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
