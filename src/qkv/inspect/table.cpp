#include "qkv/inspect/table.hpp"

namespace qkv {

Shape TableDescription::shape() const {
  Shape extents;
  for (const auto& axis : axes) extents.push_back(axis.extent());
  return extents;
}

const Axis* TableDescription::find_axis(std::string_view name) const {
  for (const auto& axis : axes)
    if (axis.name == name) return &axis;
  return nullptr;
}

}  // namespace qkv
