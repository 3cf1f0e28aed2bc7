#pragma once

#include <filesystem>
#include <optional>

namespace qkv::test {

/// A folder with reference models and tokenizers too large, or not ours, to ship: it holds `oracle/` and `real/`. Named
/// by QKV_REFERENCE, else looked for beside the project. Tests that need it are skipped with a message where there is
/// none.
[[nodiscard]] std::optional<std::filesystem::path> reference_directory();

}  // namespace qkv::test
