#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/io/weight_source.hpp"
#include "qkv/model/model_files.hpp"

namespace qkv {

/// What the numbers of a tensor are like. Least, greatest, mean and standard deviation are those of the finite ones.
struct TensorCheck {
  std::string name;
  Shape shape;
  std::int64_t count = 0;
  std::int64_t not_finite = 0;
  std::int64_t first_not_finite = -1;  // counted through the tensor, -1 for none
  float found = 0.0F;                  // what is there: NaN, or an infinity
  float least = 0.0F;
  float greatest = 0.0F;
  double mean = 0.0;
  double deviation = 0.0;

  /// Where the first number that is not finite stands, "[3, 7]".
  [[nodiscard]] std::string index() const;
};

/// Reads every number of every tensor that the model needs, in the order of their names. `progress` is told bytes done
/// and in all; what it throws ends the check.
[[nodiscard]] std::vector<TensorCheck> check_weights(
    const ModelFiles& files, const std::function<void(std::int64_t done, std::int64_t total)>& progress = nullptr);

}  // namespace qkv
