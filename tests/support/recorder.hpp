#pragma once

#include <algorithm>
#include <vector>

#include "qkv/model/config.hpp"
#include "qkv/model/observer.hpp"

namespace qkv::test {

/// Keeps what a forward pass without past shows: weights [L, H, n, n] and the residual stream [L + 1, n, D].
class Recorder : public Observer {
 public:
  Recorder(const Config& config, std::int64_t n)
      : n_heads_(config.attention.n_heads),
        n_(n),
        weights_(static_cast<std::size_t>(config.n_layers * n_heads_ * n * n), 0.0F) {}

  [[nodiscard]] Places wanted() const override { return Place::weights | Place::residual; }

  void observe(const Observation& seen) override {
    for (std::int64_t row = 0; row < seen.values.rows; ++row) {
      const auto numbers = seen.values.row(row);
      if (seen.place == Place::residual)
        residual_.insert(residual_.end(), numbers.begin(), numbers.end());
      else
        std::copy(numbers.begin(), numbers.end(),
                  weights_.begin() + ((seen.layer * n_heads_ + seen.head) * n_ + seen.first + row) * n_);
    }
  }

  [[nodiscard]] const std::vector<float>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<float>& residual() const { return residual_; }

 private:
  std::int64_t n_heads_;
  std::int64_t n_;
  std::vector<float> weights_;
  std::vector<float> residual_;
};

}  // namespace qkv::test
