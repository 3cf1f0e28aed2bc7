#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "qkv/model/block.hpp"
#include "qkv/model/model.hpp"
#include "qkv/model/weights.hpp"

namespace qkv {

/// Turns places in files into numbers: f32 stays where it is mapped, all else is widened once per tensor. Matrices for
/// a backend that packs are there only until the next one is read, so that no number is in memory twice for long.
class WeightReader {
 public:
  /// `input_group` as in ops::LinearArithmetic.
  WeightReader(const LoadOptions& options, const ops::LinearBackend& backend, const WeightSource& source,
               std::int64_t input_group = 0);
  ~WeightReader() { let_go(); }
  WeightReader(const WeightReader&) = delete;
  WeightReader& operator=(const WeightReader&) = delete;

  [[nodiscard]] std::span<const float> vector(const VectorRef& ref);
  [[nodiscard]] ConstMatrixView matrix(const MatrixRef& ref);
  [[nodiscard]] ops::Linear linear(const LinearRef& ref);
  [[nodiscard]] Norm norm(const NormRef& ref, const NormConfig& config);
  [[nodiscard]] BlockNorms norms(const HalfNorms& refs, const Config& config, bool has_before);
  [[nodiscard]] Attention attention(const BlockWeights& weights, const Config& config, std::int64_t layer);
  [[nodiscard]] Block block(const BlockWeights& weights, const Config& config, std::int64_t layer);

  /// What had to be widened and is not packed; the views given out point into it.
  [[nodiscard]] std::vector<Buffer> take_widened() { return std::move(widened_); }

 private:
  /// The tensor whose numbers are in memory to be packed.
  struct Passing {
    const StoredTensor* tensor = nullptr;
    const float* numbers = nullptr;
    Buffer widened;  // one for all, or the heap would be full of holes
  };

  [[nodiscard]] const float* numbers(const StoredTensor& tensor);
  [[nodiscard]] const float* passing_numbers(const StoredTensor& tensor);
  [[nodiscard]] const float* read(const StoredTensor& tensor, Buffer& widened);
  [[nodiscard]] const float* join(const JoinedTensors& parts, std::int64_t count);
  template <typename NumbersOf>
  [[nodiscard]] static ConstMatrixView gather(const MatrixRef& ref, const NumbersOf& numbers_of, Buffer& made);
  void let_go();

  const LoadOptions& options_;
  const ops::LinearBackend& backend_;
  const WeightSource& source_;
  ops::LinearArithmetic arithmetic_;
  std::int64_t total_bytes_ = 0;
  std::int64_t read_bytes_ = 0;
  std::map<const StoredTensor*, const float*> read_;
  std::vector<Buffer> widened_;
  Passing passing_;
};

}  // namespace qkv
