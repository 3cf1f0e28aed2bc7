#include "info_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interrupt.hpp"
#include "log.hpp"
#include "progress_line.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"

namespace qkv::app {
namespace {

std::string first_of(const TensorCheck& check) {
  return check.not_finite == 0 ? "" : fmt::format("{} at {}", check.found, check.index());
}

OrderedJson one_json(const TensorCheck& check) {
  OrderedJson one{{"name", check.name},    {"shape", check.shape},  {"not_finite", check.not_finite},
                  {"min", check.least},    {"max", check.greatest}, {"mean", check.mean},
                  {"std", check.deviation}};
  if (check.not_finite > 0)
    one["first_not_finite"] = {{"at", check.index()}, {"found", fmt::format("{}", check.found)}};
  return one;
}

}  // namespace

CheckReport::CheckReport(const ModelFiles& files) {
  catch_interrupts();
  ProgressLine line;
  const bool shows = log::shows_progress();
  checks_ = check_weights(files, [&](std::int64_t done, std::int64_t total) {
    stop_if_interrupted();
    if (shows && line.is_due())
      line.show(fmt::format("reading: {} of {} MB ({} %)", done >> 20U, total >> 20U, done * 100 / total));
  });
  for (const auto& check : checks_) {
    numbers_ += check.count;
    not_finite_ += check.not_finite;
  }
}

std::string CheckReport::text(bool all) const {
  TextTable table({{"tensor"},
                   {"min", true},
                   {"max", true},
                   {"mean", true},
                   {"std", true},
                   {"not finite", true},
                   {"first of them"}});
  bool any = false;
  for (const auto& check : checks_) {
    if (!all && check.not_finite == 0) continue;
    any = true;
    table.add({escape_controls(check.name), fmt::format("{:.6g}", check.least), fmt::format("{:.6g}", check.greatest),
               fmt::format("{:.6g}", check.mean), fmt::format("{:.6g}", check.deviation),
               fmt::format("{}", check.not_finite), first_of(check)});
  }
  const auto summary =
      fmt::format("checked: {} tensors, {} numbers, {} not finite\n", checks_.size(), numbers_, not_finite_);
  return any ? table.text() + "\n" + summary : summary;
}

OrderedJson CheckReport::json(bool all) const {
  OrderedJson object{{"tensors_read", checks_.size()}, {"numbers", numbers_}, {"not_finite", not_finite_}};
  auto& list = object["tensors"] = OrderedJson::array();
  for (const auto& check : checks_)
    if (all || check.not_finite > 0) list.push_back(one_json(check));
  return object;
}

void CheckReport::require_finite() const {
  const auto bad =
      std::find_if(checks_.begin(), checks_.end(), [](const TensorCheck& check) { return check.not_finite > 0; });
  if (bad == checks_.end()) return;
  throw Error(ErrorCode::numbers, fmt::format("tensor '{}': expected finite numbers, found {} ({} of {} in all)",
                                              bad->name, first_of(*bad), not_finite_, numbers_));
}

}  // namespace qkv::app
