#pragma once

#include <string>
#include <vector>

#include "output.hpp"
#include "qkv/model/weight_check.hpp"

namespace qkv::app {

/// Every weight read, with a progress line on a terminal, and what was found told.
class CheckReport {
 public:
  explicit CheckReport(const ModelFiles& files);

  /// For people. With `all`, a row a tensor; else only those that hold something that is not finite.
  [[nodiscard]] std::string text(bool all) const;
  [[nodiscard]] OrderedJson json(bool all) const;
  /// Throws Error{numbers} naming the first tensor and the index in it when a number is not finite.
  void require_finite() const;

 private:
  std::vector<TensorCheck> checks_;
  std::int64_t numbers_ = 0;
  std::int64_t not_finite_ = 0;
};

}  // namespace qkv::app
