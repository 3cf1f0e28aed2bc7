#pragma once

#include <vector>

#include "qkv/inspect/recorder.hpp"
#include "qkv/inspect/request.hpp"

namespace qkv::test {

/// Keeps all numbers of a table.
class MemoryTable : public TableWriter {
 public:
  void begin(const TableDescription&) override {}
  void row(std::span<const float> numbers) override { numbers_.insert(numbers_.end(), numbers.begin(), numbers.end()); }
  void end() override { ended_ = true; }

  [[nodiscard]] const std::vector<float>& numbers() const { return numbers_; }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::vector<float> numbers_;
  bool ended_ = false;
};

/// The numbers of a place for a text, in C order over its axes.
[[nodiscard]] inline std::vector<float> numbers_of(const Model& model, std::span<const TokenId> ids, Place place,
                                                   const std::vector<std::int64_t>& layers = {}) {
  Session session(model);
  const auto request = resolve({place, layers, {}}, model.config());
  TableDescription description;
  description.axes = axes_of(request, model.config(), static_cast<std::int64_t>(ids.size()));
  MemoryTable table;
  inspect(session, ids, request, description, table);
  return table.numbers();
}

}  // namespace qkv::test
