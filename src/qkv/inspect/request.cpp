#include "qkv/inspect/request.hpp"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "qkv/core/error.hpp"
#include "qkv/model/choices.hpp"

namespace qkv {
namespace {

std::vector<std::int64_t> count_from_0(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::int64_t layer_count(Place place, const Config& config) {
  return place == Place::residual ? config.n_layers + 1 : config.n_layers;
}

std::int64_t head_count(Place place, const Config& config) {
  return place == Place::k || place == Place::v ? config.attention.n_kv_heads : config.attention.n_heads;
}

/// The numbers chosen on an axis of `count` entries, or all of them.
std::vector<std::int64_t> choose(const std::vector<std::int64_t>& wanted, std::int64_t count, std::string_view axis,
                                 std::string_view place) {
  if (wanted.empty()) return count_from_0(count);
  std::set<std::int64_t> seen;
  for (const auto number : wanted) {
    if (number < 0 || number >= count)
      throw Error(ErrorCode::usage,
                  fmt::format("--{}: expected 0 to {} for {}, found {}", axis, count - 1, place, number));
    if (!seen.insert(number).second)
      throw Error(ErrorCode::usage, fmt::format("--{}: expected each number once, found {} twice", axis, number));
  }
  return wanted;
}

std::int64_t row_width(Place place, const Config& config, std::int64_t n) {
  switch (place) {
    case Place::scores:
    case Place::weights:
      return n;
    case Place::q:
    case Place::k:
    case Place::v:
    case Place::head_out:
      return config.attention.head_dim;
    case Place::logits:
      return config.n_vocab;
    default:
      return config.d_model;
  }
}

}  // namespace

bool has_layers(Place place) {
  return (static_cast<unsigned>(place) & (Place::embedding | Place::final_norm | Place::logits)) == 0;
}

bool has_heads(Place place) {
  return (static_cast<unsigned>(place) &
          (Place::scores | Place::weights | Place::q | Place::k | Place::v | Place::head_out)) != 0;
}

std::optional<Place> place_from_name(std::string_view name) {
  for (Places bit = 1; (bit & all_places) != 0; bit <<= 1U)
    if (name_of(static_cast<Place>(bit)) == name) return static_cast<Place>(bit);
  return std::nullopt;
}

InspectRequest resolve(const InspectRequest& request, const Config& config) {
  const auto place = request.place;
  const auto name = name_of(place);
  const auto refuse = [&](std::string_view axis) {
    throw Error(ErrorCode::usage,
                fmt::format("--{}: expected a place with an axis of that name, found {}", axis, name));
  };
  if (!has_layers(place) && !request.layers.empty()) refuse("layer");
  if (!has_heads(place) && !request.heads.empty()) refuse("head");
  InspectRequest resolved{place, {}, {}};
  if (has_layers(place)) resolved.layers = choose(request.layers, layer_count(place, config), "layer", name);
  if (has_heads(place)) resolved.heads = choose(request.heads, head_count(place, config), "head", name);
  return resolved;
}

std::vector<Axis> axes_of(const InspectRequest& request, const Config& config, std::int64_t n) {
  const auto place = request.place;
  const bool table = place == Place::scores || place == Place::weights;
  std::vector<Axis> axes;
  if (has_layers(place)) axes.push_back({"layer", request.layers});
  if (has_heads(place)) axes.push_back({"head", request.heads});
  axes.push_back({table ? "query" : "position", count_from_0(n)});
  const auto* last = table ? "key" : place == Place::logits ? "vocabulary" : "dimension";
  axes.push_back({last, count_from_0(row_width(place, config, n))});
  return axes;
}

}  // namespace qkv
