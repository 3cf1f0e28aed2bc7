#pragma once

namespace qkv {

/// How many processors this process may really use: its affinity, the quota of its control group, and physical cores
/// rather than hardware threads, whichever is least. At least 1.
[[nodiscard]] int usable_processors();

}  // namespace qkv
