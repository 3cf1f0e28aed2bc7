#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "qkv/model/block.hpp"
#include "qkv/model/model.hpp"
#include "qkv/model/weights.hpp"

namespace qkv {

/// Turns places in files into numbers: f32 stays where it is mapped, all else is widened once per tensor.
class WeightReader {
 public:
  WeightReader(const LoadOptions& options, const ops::LinearBackend& backend, std::int64_t total_bytes)
      : options_(options), backend_(backend), total_bytes_(total_bytes) {}

  [[nodiscard]] std::span<const float> vector(const VectorRef& ref);
  [[nodiscard]] ConstMatrixView matrix(const MatrixRef& ref);
  [[nodiscard]] ops::Linear linear(const LinearRef& ref);
  [[nodiscard]] Norm norm(const NormRef& ref, const NormConfig& config);
  [[nodiscard]] BlockNorms norms(const HalfNorms& refs, const Config& config, bool has_before);
  [[nodiscard]] Attention attention(const BlockWeights& weights, const Config& config, std::int64_t layer);
  [[nodiscard]] Block block(const BlockWeights& weights, const Config& config, std::int64_t layer);

  /// What had to be widened; the views given out point into it.
  [[nodiscard]] std::vector<Buffer> take_widened() { return std::move(widened_); }

 private:
  [[nodiscard]] const float* numbers(const StoredTensor& tensor);
  [[nodiscard]] const float* read(const StoredTensor& tensor);
  [[nodiscard]] const float* join(const JoinedTensors& parts, std::int64_t count);

  const LoadOptions& options_;
  const ops::LinearBackend& backend_;
  std::int64_t total_bytes_;
  std::int64_t read_bytes_ = 0;
  std::map<const StoredTensor*, const float*> read_;
  std::vector<Buffer> widened_;
};

}  // namespace qkv
