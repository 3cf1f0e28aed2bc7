#include "qkv/ops/backends/onednn_products.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "qkv/tensor/dtype.hpp"

namespace qkv::ops::onednn {
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

}  // namespace

Products::Products(const Shape& shape)
    : shape_(shape),
      packed_(describe(x_desc(usual_rows), {{shape.in, shape.out}, shape.type, memory::format_tag::any}, bias_desc(),
                       y_desc(usual_rows))
                  .weights_desc()),
      panel_bytes_(panel_bytes(packed_, shape)),
      no_bias_(static_cast<std::size_t>(shape.out)) {}

memory::desc Products::x_desc(std::int64_t rows) const {
  return {{rows, shape_.in}, shape_.type, memory::format_tag::ab};
}

memory::desc Products::y_desc(std::int64_t rows) const {
  return {{rows, shape_.out}, Type::f32, memory::format_tag::ab};
}

memory::desc Products::bias_desc() const { return {{1, shape_.out}, Type::f32, memory::format_tag::ab}; }

bool Products::is_for_panels(std::int64_t rows) const {
  const std::int64_t threads = omp_get_max_threads();
  if (!panel_bytes_ || rows > (shares_rows(rows, threads) ? few_rows * threads : few_rows)) return false;
  const bool in_pairs = shape_.type == Type::f32 || shape_.in % 2 == 0;
  return rows == 1 || (piece_ && in_pairs);
}

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

}  // namespace qkv::ops::onednn
