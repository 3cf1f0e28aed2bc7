#include "qkv/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "qkv/core/error.hpp"
#include "qkv/model/family.hpp"
#include "qkv/model/weight_reader.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

void require_directory(const fs::path& directory) {
  std::error_code error;
  const auto status = fs::status(directory, error);
  if (fs::is_directory(status)) return;
  throw Error(ErrorCode::model, fmt::format("{}: expected a model directory, found {}", directory.string(),
                                            fs::exists(status) ? "a file" : "nothing"));
}

const ops::LinearBackend& find_backend(std::string_view name) {
  const auto backends = ops::linear_backends();
  if (name == "auto") return backends.front();
  std::string names;
  for (const auto& backend : backends) {
    if (backend.name == name) return backend;
    names += fmt::format(", {}", backend.name);
  }
  throw Error(ErrorCode::usage, fmt::format("backend: expected one of auto{}, found {}", names, name));
}

/// Instruction-tuned models end their turn with tokens that only `generation_config.json` names.
void add_end_tokens(const fs::path& directory, Config& config) {
  const auto path = directory / "generation_config.json";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  for (const auto id : JsonReader::open(path).integers("eos_token_id", {})) {
    const auto token = static_cast<TokenId>(std::clamp<std::int64_t>(id, -1, config.n_vocab));
    const bool known = std::find(config.eos.begin(), config.eos.end(), token) != config.eos.end();
    if (!known && token >= 0 && token < config.n_vocab) config.eos.push_back(token);
  }
}

std::int64_t byte_count(const std::vector<StoredTensor>& tensors) {
  std::int64_t total = 0;
  for (const auto& tensor : tensors) total += static_cast<std::int64_t>(tensor.bytes.size());
  return total;
}

}  // namespace

Model Model::load(const fs::path& directory, const LoadOptions& options) {
  require_directory(directory);
  const auto& backend = find_backend(options.backend);
  const auto reader = JsonReader::open(directory / "config.json");
  const auto& family = find_family(reader);

  Model model;
  model.directory_ = directory;
  model.backend_ = backend.name;
  model.config_ = read_config(family, reader, options.ignored_keys);
  add_end_tokens(directory, model.config_);
  if (model.config_.name.empty()) model.config_.name = fs::canonical(directory).filename().string();
  const auto opened = open_weights(directory);
  model.format_ = opened.format;
  model.source_ = opened.source;

  WeightBinder binder(*model.source_);
  const auto weights = family.bind(model.config_, binder);
  binder.finish(directory.string());  // from here on every tensor is known to be what the config asks for
  model.ignored_ = binder.ignored();

  WeightReader numbers(options, backend, byte_count(model.tensors()));
  model.tokens_ = numbers.matrix(weights.tokens);
  if (weights.positions) model.positions_ = numbers.matrix(*weights.positions);
  for (const auto& block : weights.blocks)
    model.blocks_.push_back(numbers.block(block, model.config_, static_cast<std::int64_t>(model.blocks_.size())));
  model.final_norm_ = numbers.norm(weights.final_norm, model.config_.norm);
  model.head_ = numbers.linear(weights.head);
  model.widened_ = numbers.take_widened();
  return model;
}

}  // namespace qkv
