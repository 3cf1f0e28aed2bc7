#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/inspect/table.hpp"
#include "qkv/model/config.hpp"
#include "qkv/model/observer.hpp"

namespace qkv {

/// What of a forward pass is to be shown.
struct InspectRequest {
  Place place = Place::weights;
  std::vector<std::int64_t> layers;  // in the order wanted, each once; empty: all
  std::vector<std::int64_t> heads;   // likewise; for k and v: key/value heads
};

/// Places by name; nothing for one that is none.
[[nodiscard]] std::optional<Place> place_from_name(std::string_view name);

/// Fills in what was left open and checks the rest against the model. Throws Error{usage} naming a layer or head that
/// is not there, or that a place has no such axis.
[[nodiscard]] InspectRequest resolve(const InspectRequest& request, const Config& config);

/// The axes of a resolved request for a text of n tokens:
/// weights, scores [L, H, n, n]; q, head_out [L, H, n, K]; k, v [L, Hkv, n, K]; attn_out, mlp_out [L, n, D];
/// attn_in, residual_mid, mlp_in [L, n, D]; residual [L + 1, n, D]; embedding, final_norm [n, D]; logits [n, V].
[[nodiscard]] std::vector<Axis> axes_of(const InspectRequest& request, const Config& config, std::int64_t n);

/// Whether the place is observed once a layer, and whether a row of it is heads side by side.
[[nodiscard]] bool has_layers(Place place);
[[nodiscard]] bool has_heads(Place place);

}  // namespace qkv
