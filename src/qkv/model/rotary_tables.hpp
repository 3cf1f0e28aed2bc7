#pragma once

#include <cstdint>
#include <vector>

#include "qkv/model/config.hpp"

namespace qkv {

/// The rotary tables that the layers of a model use. Some models turn by other angles in texts longer than their
/// original context, at every position: then keys that were kept while the text was short are of no use any more.
class RotaryTables {
 public:
  explicit RotaryTables(const PositionConfig& position);

  /// Makes sure that positions 0 .. count - 1 are there.
  void extend(std::int64_t count);
  /// Whether a text of so many tokens takes the angles for long ones.
  [[nodiscard]] bool is_long(std::int64_t length) const;
  /// By PositionConfig::rotary_index; null for -1. Valid until extend().
  [[nodiscard]] const ops::RotaryTable* find(int index, bool long_text) const;

 private:
  struct Pair {
    ops::RotaryTable of_short;
    ops::RotaryTable of_long;
    std::int64_t long_from;  // tokens; the largest number where there is no difference
  };
  static Pair make(const RotaryConfig& rotary);
  std::vector<Pair> tables_;
};

}  // namespace qkv
