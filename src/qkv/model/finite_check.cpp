#include "qkv/model/finite_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/core/error.hpp"

namespace qkv {
namespace {

class FiniteCheck : public Observer {
 public:
  [[nodiscard]] Places wanted() const override { return all_places; }

  void observe(const Observation& seen) override {
    if (!found_.empty()) return;
    const bool masked = seen.place == Place::scores || seen.place == Place::weights;
    for (std::int64_t row = 0; row < seen.values.rows; ++row) {
      const auto width = masked ? std::min(seen.visible(row), seen.values.cols) : seen.values.cols;
      for (const auto number : seen.values.row(row).first(static_cast<std::size_t>(width)))
        if (!std::isfinite(number)) return note(seen, row, number);
    }
  }

  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  void note(const Observation& seen, std::int64_t row, float number) {
    const auto layer = seen.layer < 0 ? std::string() : fmt::format("layer {}, ", seen.layer);
    const auto head = seen.head < 0 ? std::string() : fmt::format("head {}, ", seen.head);
    found_ = fmt::format("numbers: expected finite ones, found {} first in {}{}, {}position {}", number, layer,
                         name_of(seen.place), head, seen.first + row);
  }

  std::string found_;
};

}  // namespace

void require_finite(std::span<const float> logits, Session& session, std::span<const TokenId> tokens) {
  if (!std::all_of(logits.begin(), logits.end(), [](float logit) { return std::isfinite(logit); }))
    throw Error(ErrorCode::numbers, describe_first_non_finite(session, tokens));
}

std::string describe_first_non_finite(Session& session, std::span<const TokenId> tokens) {
  FiniteCheck check;
  session.rewind(0);
  session.forward(tokens, Rows::last, &check);
  return check.found().empty() ? "numbers: expected finite logits, found NaN or infinity once" : check.found();
}

}  // namespace qkv
