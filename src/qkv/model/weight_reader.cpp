#include "qkv/model/weight_reader.hpp"

#include <algorithm>
#include <cstdint>

#include "qkv/io/mapped_file.hpp"

namespace qkv {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 24U;  // between two reports of progress

bool can_stay_mapped(const StoredTensor& tensor) {
  return tensor.dtype == DType::f32 && reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % alignof(float) == 0;
}

}  // namespace

/// Reads a tensor in chunks, so that progress can be told.
const float* WeightReader::read(const StoredTensor& tensor) {
  const bool mapped = can_stay_mapped(tensor);
  if (mapped && !options_.read_weights) return reinterpret_cast<const float*>(tensor.bytes.data());
  const auto width = size_of(tensor.dtype);
  const auto* numbers = mapped ? reinterpret_cast<const float*>(tensor.bytes.data()) : nullptr;
  float* to = nullptr;
  if (!mapped) numbers = to = widened_.emplace_back(static_cast<std::int64_t>(tensor.bytes.size() / width)).data();
  for (std::size_t at = 0; at < tensor.bytes.size(); at += chunk_bytes) {
    const auto chunk = tensor.bytes.subspan(at, std::min(chunk_bytes, tensor.bytes.size() - at));
    if (mapped)
      read_pages(chunk);
    else
      widen(tensor.dtype, chunk.data(), chunk.size() / width, to + at / width);
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
  return {numbers(*ref.tensor) + ref.first, static_cast<std::size_t>(ref.count)};
}

ConstMatrixView WeightReader::matrix(const MatrixRef& ref) {
  return {numbers(*ref.tensor) + ref.first, ref.rows, ref.cols, ref.stride};
}

ops::Linear WeightReader::linear(const LinearRef& ref) {
  return {backend_, {matrix(ref.matrix), ref.layout}, vector(ref.bias)};
}

Norm WeightReader::norm(const NormRef& ref, const NormConfig& config) {
  return {config, vector(ref.gain), vector(ref.bias)};
}

Block WeightReader::block(const BlockWeights& weights, const Config& config, std::int64_t layer) {
  Block block;
  block.attn_norm = norm(weights.attn_norm, config.norm);
  block.attention = {config.attention,    config.attention.scale_of(layer),
                     linear(weights.W_q), linear(weights.W_k),
                     linear(weights.W_v), linear(weights.W_o)};
  block.mlp_norm = norm(weights.mlp_norm, config.norm);
  block.mlp = {config.mlp, linear(weights.W_in), weights.W_gate ? linear(*weights.W_gate) : ops::Linear(),
               linear(weights.W_out)};
  return block;
}

}  // namespace qkv
