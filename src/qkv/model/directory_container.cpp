#include "qkv/model/directory_container.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

/// Instruction-tuned models end their turn with tokens that only `generation_config.json` names.
std::vector<std::int64_t> further_end_tokens(const fs::path& directory) {
  const auto path = directory / "generation_config.json";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  return JsonReader::open(path).integers("eos_token_id", {});
}

ContainerFiles open(const fs::path& directory) {
  auto config = JsonReader::open(directory / "config.json");
  return {std::move(config), [directory] { return open_weights(directory); }, further_end_tokens(directory)};
}

}  // namespace

Container directory_container() {
  return {"directory",
          [](const fs::path& path) {
            std::error_code ignored;
            return fs::exists(path / "config.json", ignored);
          },
          open, [](const fs::path& path) { return path; }};
}

}  // namespace qkv
