#include "qkv/model/weight_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "qkv/io/mapped_file.hpp"

namespace qkv {
namespace {

constexpr std::size_t most_chunk_bytes = std::size_t{1} << 24U;  // between two reports of progress

bool can_stay_mapped(const StoredTensor& tensor) {
  return tensor.dtype == DType::f32 && reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % alignof(float) == 0;
}

}  // namespace

WeightReader::WeightReader(const LoadOptions& options, const ops::LinearBackend& backend, const WeightSource& source,
                           std::int64_t input_group)
    : options_(options), backend_(backend), source_(source), arithmetic_{options.precision, input_group} {
  for (const auto& tensor : source.tensors()) total_bytes_ += static_cast<std::int64_t>(tensor.bytes.size());
}

/// Reads a tensor in chunks, so that progress can be told. What cannot stay where it is comes into `widened`.
const float* WeightReader::read(const StoredTensor& tensor, Buffer& widened) {
  const bool mapped = can_stay_mapped(tensor);
  if (mapped && !options_.read_weights) return reinterpret_cast<const float*>(tensor.bytes.data());
  const auto width = size_of(tensor.dtype);
  const auto chunk_bytes = most_chunk_bytes / width * width;
  const auto length = block_length(tensor.dtype);
  const auto count = static_cast<std::int64_t>(tensor.bytes.size() / width * length);
  if (!mapped && widened.size() < count) widened = Buffer(count);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += chunk_bytes) {
    const auto chunk = tensor.bytes.subspan(at, std::min(chunk_bytes, tensor.bytes.size() - at));
    if (mapped)
      read_pages(chunk);
    else
      widen(tensor.dtype, chunk.data(), chunk.size() / width * length, widened.data() + at / width * length);
    read_bytes_ = std::min(read_bytes_ + static_cast<std::int64_t>(chunk.size()), total_bytes_);
    if (options_.progress) options_.progress(read_bytes_, total_bytes_);
  }
  if (mapped) return reinterpret_cast<const float*>(tensor.bytes.data());
  source_.release(tensor);
  return widened.data();
}

const float* WeightReader::numbers(const StoredTensor& tensor) {
  const auto known = read_.find(&tensor);
  if (known != read_.end()) return known->second;
  Buffer widened;
  const auto* numbers = read(tensor, widened);
  if (widened.size() > 0) widened_.push_back(std::move(widened));
  return read_[&tensor] = numbers;
}

/// Those of one tensor at a time: W_q, W_k and W_v may be parts of one.
const float* WeightReader::passing_numbers(const StoredTensor& tensor) {
  const auto kept = read_.find(&tensor);  // a tied head
  if (kept != read_.end()) return kept->second;
  if (passing_.tensor == &tensor) return passing_.numbers;
  let_go();
  passing_.numbers = read(tensor, passing_.widened);
  passing_.tensor = &tensor;
  return passing_.numbers;
}

void WeightReader::let_go() {
  const auto* gone = std::exchange(passing_.tensor, nullptr);
  if (gone != nullptr && read_.count(gone) == 0) source_.release(*gone);
}

std::span<const float> WeightReader::vector(const VectorRef& ref) {
  if (ref.tensor == nullptr) return {};
  if (!ref.joined.empty()) return {join(ref.joined, ref.count), static_cast<std::size_t>(ref.count)};
  const auto* first = numbers(*ref.tensor) + ref.first;
  const auto count = static_cast<std::size_t>(ref.count);
  if (ref.groups.group == 0) return {first, count};
  auto* gathered = widened_.emplace_back(ref.count).data();
  for (std::int64_t i = 0; i < ref.count; ++i) gathered[i] = first[ref.groups.place_of(i)];
  return {gathered, count};
}

const float* WeightReader::join(const JoinedTensors& parts, std::int64_t count) {
  auto* to = widened_.emplace_back(count).data();
  const auto each = count / static_cast<std::int64_t>(parts.size());
  auto* next = to;
  for (const auto* part : parts) next = std::copy_n(numbers(*part), each, next);
  return to;
}

/// The matrix as it lies in its tensor; where it comes in groups of rows or in several tensors, a copy, in `made`, so
/// that everybody else sees an ordinary matrix.
template <typename NumbersOf>
ConstMatrixView WeightReader::gather(const MatrixRef& ref, const NumbersOf& numbers_of, Buffer& made) {
  if (ref.joined.empty() && ref.groups.group == 0)
    return {numbers_of(*ref.tensor) + ref.first, ref.rows, ref.cols, ref.stride};
  made = Buffer(ref.rows * ref.cols);
  const auto to = made.view(ref.rows, ref.cols);
  if (!ref.joined.empty()) {
    const auto each = ref.rows * ref.cols / static_cast<std::int64_t>(ref.joined.size());
    auto* next = to.data;
    for (const auto* part : ref.joined) next = std::copy_n(numbers_of(*part), each, next);
    return to;
  }
  const auto* first = numbers_of(*ref.tensor) + ref.first;
  for (std::int64_t r = 0; r < ref.rows; ++r)
    std::copy_n(first + ref.groups.place_of(r) * ref.stride, ref.cols, to.row(r).begin());
  return to;
}

ConstMatrixView WeightReader::matrix(const MatrixRef& ref) {
  Buffer made;
  const auto view = gather(
      ref, [this](const StoredTensor& tensor) { return numbers(tensor); }, made);
  if (made.size() > 0) widened_.push_back(std::move(made));
  return view;
}

ops::Linear WeightReader::linear(const LinearRef& ref) {
  if (!backend_.packs) return {backend_, {matrix(ref.matrix), ref.layout}, vector(ref.bias), arithmetic_};
  Buffer made;  // until it is packed
  const auto view = gather(
      ref.matrix, [this](const StoredTensor& tensor) { return passing_numbers(tensor); }, made);
  return {backend_, {view, ref.layout}, vector(ref.bias), arithmetic_};
}

Norm WeightReader::norm(const NormRef& ref, const NormConfig& config) {
  auto gain = vector(ref.gain);
  if (config.gain_offset != 0.0F && !gain.empty()) {
    auto* with_offset = widened_.emplace_back(static_cast<std::int64_t>(gain.size())).data();
    std::transform(gain.begin(), gain.end(), with_offset, [&](float number) { return number + config.gain_offset; });
    gain = {with_offset, gain.size()};
  }
  return {config, gain, vector(ref.bias)};
}

BlockNorms WeightReader::norms(const HalfNorms& refs, const Config& config, bool has_before) {
  const auto& places = config.norm_places;
  const auto norm_if = [&](bool wanted, const NormRef& ref) {
    return wanted ? std::optional(norm(ref, config.norm)) : std::nullopt;
  };
  return {norm_if(places.before && has_before, refs.before), norm_if(places.after, refs.after),
          norm_if(places.stream, refs.stream), places.keeps};
}

Attention WeightReader::attention(const BlockWeights& weights, const Config& config, std::int64_t layer) {
  Attention attention;
  attention.config = config.attention;
  attention.scale = config.attention.scale_of(layer);
  attention.window = config.attention.window_of(layer);
  attention.rotary = config.position.rotary_index(layer);
  if (config.position.kind == PositionConfig::Kind::alibi) {
    const auto& alibi = config.position.alibi;
    attention.alibi = ops::Alibi(alibi_slopes(alibi, config.attention.n_heads), alibi.rounded,
                                 static_cast<float>(alibi.strength) * (alibi.scaled ? attention.scale : 1.0F));
  }
  if (config.attention.qk_norm.kind != QkNormConfig::Kind::none) {
    attention.q_norm = norm(weights.q_norm, config.attention.qk_norm.norm);
    attention.k_norm = norm(weights.k_norm, config.attention.qk_norm.norm);
  }
  attention.W_q = linear(weights.W_q);
  attention.W_k = linear(weights.W_k);
  attention.W_v = linear(weights.W_v);
  attention.W_o = linear(weights.W_o);
  return attention;
}

Block WeightReader::block(const BlockWeights& weights, const Config& config, std::int64_t layer) {
  Block block;
  block.residual = config.residual;
  block.residual_scale = static_cast<float>(config.residual_scale);
  block.attn_norms = norms(weights.attn_norms, config, true);
  block.attention = attention(weights, config, layer);
  block.mlp_norms = norms(weights.mlp_norms, config, config.residual != Residual::parallel_one_norm);
  block.mlp = {config.mlp, linear(weights.W_in), weights.W_gate ? linear(*weights.W_gate) : ops::Linear(),
               linear(weights.W_out)};
  return block;
}

}  // namespace qkv
