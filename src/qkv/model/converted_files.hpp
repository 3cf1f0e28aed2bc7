#pragma once

namespace qkv {

/// What config.json of a converted model says, so that it can be told from one that a person made.
inline constexpr auto written_by_key = "_written_by";
inline constexpr auto written_by = "qkv convert";

}  // namespace qkv
