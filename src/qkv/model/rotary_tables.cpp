#include "qkv/model/rotary_tables.hpp"

#include <algorithm>
#include <limits>

namespace qkv {

RotaryTables::RotaryTables(const PositionConfig& position) {
  if (position.kind != PositionConfig::Kind::rotary) return;
  tables_.push_back(make(position.rotary));
  if (position.second_rotary) tables_.push_back(make(*position.second_rotary));
}

RotaryTables::Pair RotaryTables::make(const RotaryConfig& rotary) {
  const auto& scaling = rotary.scaling;
  const auto magnitude = static_cast<float>(scaling.magnitude);
  const bool differs = scaling.kind == RotaryScaling::Kind::longrope;
  return {ops::RotaryTable(rotary_rates(rotary, false), rotary.layout, magnitude),
          ops::RotaryTable(differs ? rotary_rates(rotary, true) : std::vector<double>(), rotary.layout, magnitude),
          differs ? static_cast<std::int64_t>(scaling.original_n_ctx) + 1 : std::numeric_limits<std::int64_t>::max()};
}

void RotaryTables::extend(std::int64_t count) {
  for (auto& pair : tables_) {
    pair.of_short.extend(count);
    if (is_long(count)) pair.of_long.extend(count);
  }
}

bool RotaryTables::is_long(std::int64_t length) const {
  return std::any_of(tables_.begin(), tables_.end(), [&](const Pair& pair) { return length >= pair.long_from; });
}

const ops::RotaryTable* RotaryTables::find(int index, bool long_text) const {
  if (index < 0) return nullptr;
  const auto& pair = tables_[static_cast<std::size_t>(index)];
  return long_text && pair.long_from != std::numeric_limits<std::int64_t>::max() ? &pair.of_long : &pair.of_short;
}

}  // namespace qkv
