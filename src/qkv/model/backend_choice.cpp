#include "qkv/model/backend_choice.hpp"

#include <fmt/format.h>

#include "qkv/core/error.hpp"
#include "qkv/model/scratch.hpp"

namespace qkv {
namespace {

std::string offered_by(const ops::LinearBackend& backend) {
  std::string names;
  for (const auto precision : backend.precisions)
    names += fmt::format("{}{}", names.empty() ? "" : " or ", ops::name_of(precision));
  return names;
}

const ops::LinearBackend& named_backend(std::string_view name) {
  std::string names;
  for (const auto& backend : ops::linear_backends()) {
    if (backend.name == name) return backend;
    names += fmt::format(", {}", backend.name);
  }
  throw Error(ErrorCode::usage, fmt::format("backend: expected one of auto{}, found {}", names, name));
}

}  // namespace

const ops::LinearBackend& choose_backend(const LoadOptions& options, const Config& config) {
  if (options.backend != "auto") {
    const auto& backend = named_backend(options.backend);
    if (backend.offers(options.precision)) return backend;
    throw Error(ErrorCode::usage, fmt::format("precision: expected {}, which backend {} offers, found {}",
                                              offered_by(backend), backend.name, ops::name_of(options.precision)));
  }
  // In a narrow model rows must come out the same to the bit in blocks of 16, and products are too small for packing to
  // matter; weights that are not to be read must not be packed. In both cases, the last that offers the precision.
  const bool plain = is_narrow(config) || !options.read_weights;
  const ops::LinearBackend* choice = nullptr;
  for (const auto& backend : ops::linear_backends()) {
    if (!backend.offers(options.precision)) continue;
    choice = &backend;
    if (!plain && backend.is_fast(options.precision)) break;
  }
  if (choice != nullptr) return *choice;
  throw Error(ErrorCode::usage,
              fmt::format("precision: expected {}, which is all that is built in, found {}",
                          offered_by(ops::linear_backends().back()), ops::name_of(options.precision)));
}

}  // namespace qkv
