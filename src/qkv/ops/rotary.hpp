#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qkv/tensor/matrix.hpp"

namespace qkv::ops {

/// Which two numbers of a head are turned together: i and i + n/2, or 2i and 2i + 1.
enum class RotaryLayout { halves, pairs };

/// Sines and cosines of the angles position * rate[i], for positions 0, 1, ...  Su et al., "RoFormer", 2021.
/// The angles are computed in double precision: in f32 they are off by 1e-4 after some thousand positions.
class RotaryTable {
 public:
  /// `rates` [n/2]: by how much an angle grows from one position to the next, in radians. Cosines and sines are
  /// multiplied by `magnitude`.
  RotaryTable(std::vector<double> rates, RotaryLayout layout, float magnitude = 1.0F)
      : rates_(std::move(rates)), layout_(layout), magnitude_(static_cast<double>(magnitude)) {}

  /// Makes sure that positions 0 .. count - 1 are there.
  void extend(std::int64_t count);

  /// Turns the first n numbers of each head by the angles of its position, in place. x [T, heads * head_dim], row t at
  /// position first + t; extend() must have covered them.
  void rotate(MatrixView x, std::int64_t head_dim, std::int64_t first) const;

 private:
  std::vector<double> rates_;
  RotaryLayout layout_;
  double magnitude_;
  std::vector<float> cosines_;  // [positions, n/2]
  std::vector<float> sines_;
};

}  // namespace qkv::ops
