#pragma once

#include <cstdint>
#include <vector>

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// Linear biases: the further a key lies before a query, the less it scores. Press, Smith and Lewis, "Train Short, Test
/// Long", 2022. Only differences within a row matter to a softmax, so the query's own position may be left out.
class Alibi {
 public:
  Alibi() = default;
  /// `slopes` [H]. Plain: slope * (key - query). `rounded`: slope * key, both and their product rounded to bf16, as
  /// some models were trained. Either way times `factor`.
  Alibi(std::vector<float> slopes, bool rounded, float factor);

  /// Adds the biases of one head to its scores [T, S], whose row t stands at position first + t of the text.
  void add(std::int64_t head, std::int64_t first, MatrixView scores) const;

 private:
  std::vector<float> slopes_;
  bool rounded_ = false;
  float factor_ = 1.0F;
};

}  // namespace qkv::ops
