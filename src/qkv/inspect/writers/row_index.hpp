#pragma once

#include <cstddef>
#include <vector>

#include "qkv/inspect/table.hpp"

namespace qkv {

/// Which row of a table comes next: one number for each axis but the last, counted up in C order.
class RowIndex {
 public:
  explicit RowIndex(const std::vector<Axis>& axes) {
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) extents_.push_back(axes[i].extent());
    at_.assign(extents_.size(), 0);
  }

  /// The place on leading axis `axis`.
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const { return at_[axis]; }
  [[nodiscard]] std::size_t depth() const { return at_.size(); }

  /// How many of the innermost leading axes stand at their beginning: so many arrays open with this row.
  [[nodiscard]] std::size_t opening() const {
    std::size_t count = 0;
    while (count < at_.size() && at_[at_.size() - 1 - count] == 0) ++count;
    return count;
  }
  /// How many stand at their end: so many arrays close after this row.
  [[nodiscard]] std::size_t closing() const {
    std::size_t count = 0;
    while (count < at_.size() && at_[at_.size() - 1 - count] + 1 == extents_[at_.size() - 1 - count]) ++count;
    return count;
  }
  void next() {
    for (auto axis = at_.size(); axis-- > 0;) {
      if (++at_[axis] < extents_[axis]) return;
      at_[axis] = 0;
    }
  }

 private:
  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> at_;
};

}  // namespace qkv
