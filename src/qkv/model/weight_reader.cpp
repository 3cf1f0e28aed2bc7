#include "qkv/model/weight_reader.hpp"

#include <algorithm>
#include <cstdint>

#include "qkv/io/mapped_file.hpp"

namespace qkv {
namespace {

constexpr std::size_t most_chunk_bytes = std::size_t{1} << 24U;  // between two reports of progress

bool can_stay_mapped(const StoredTensor& tensor) {
  return tensor.dtype == DType::f32 && reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % alignof(float) == 0;
}

}  // namespace

/// Reads a tensor in chunks, so that progress can be told.
const float* WeightReader::read(const StoredTensor& tensor) {
  const bool mapped = can_stay_mapped(tensor);
  if (mapped && !options_.read_weights) return reinterpret_cast<const float*>(tensor.bytes.data());
  const auto width = size_of(tensor.dtype);
  const auto chunk_bytes = most_chunk_bytes / width * width;
  const auto length = block_length(tensor.dtype);
  const auto* numbers = mapped ? reinterpret_cast<const float*>(tensor.bytes.data()) : nullptr;
  float* to = nullptr;
  if (!mapped)
    numbers = to = widened_.emplace_back(static_cast<std::int64_t>(tensor.bytes.size() / width * length)).data();
  for (std::size_t at = 0; at < tensor.bytes.size(); at += chunk_bytes) {
    const auto chunk = tensor.bytes.subspan(at, std::min(chunk_bytes, tensor.bytes.size() - at));
    if (mapped)
      read_pages(chunk);
    else
      widen(tensor.dtype, chunk.data(), chunk.size() / width * length, to + at / width * length);
    read_bytes_ += static_cast<std::int64_t>(chunk.size());
    if (options_.progress) options_.progress(read_bytes_, total_bytes_);
  }
  return numbers;
}

const float* WeightReader::numbers(const StoredTensor& tensor) {
  const auto known = read_.find(&tensor);
  if (known != read_.end()) return known->second;
  return read_[&tensor] = read(tensor);
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

/// Rows in groups are copied, once, so that everybody else sees an ordinary matrix.
ConstMatrixView WeightReader::matrix(const MatrixRef& ref) {
  if (!ref.joined.empty()) return {join(ref.joined, ref.rows * ref.cols), ref.rows, ref.cols, ref.cols};
  const auto* first = numbers(*ref.tensor) + ref.first;
  if (ref.groups.group == 0) return {first, ref.rows, ref.cols, ref.stride};
  const auto gathered = widened_.emplace_back(ref.rows * ref.cols).view(ref.rows, ref.cols);
  for (std::int64_t r = 0; r < ref.rows; ++r)
    std::copy_n(first + ref.groups.place_of(r) * ref.stride, ref.cols, gathered.row(r).begin());
  return gathered;
}

ops::Linear WeightReader::linear(const LinearRef& ref) {
  return {backend_, {matrix(ref.matrix), ref.layout}, vector(ref.bias)};
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
  block.attn_norms = norms(weights.attn_norms, config, true);
  block.attention = attention(weights, config, layer);
  block.mlp_norms = norms(weights.mlp_norms, config, config.residual != Residual::parallel_one_norm);
  block.mlp = {config.mlp, linear(weights.W_in), weights.W_gate ? linear(*weights.W_gate) : ops::Linear(),
               linear(weights.W_out)};
  return block;
}

}  // namespace qkv
