#include "qkv/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "qkv/core/error.hpp"
#include "qkv/model/family.hpp"
#include "qkv/model/random_weights.hpp"
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

/// Holds nothing, so that all that a family asks for is only noted.
class NoWeights : public WeightSource {
 public:
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return none_; }

 private:
  std::vector<StoredTensor> none_;
};

}  // namespace

/// Binds the family's tensors to the source, checks them, and only then reads.
void Model::take(const Family& family, const WeightSource& source, const std::string& where,
                 const LoadOptions& options) {
  const auto& backend = find_backend(options.backend);
  backend_ = backend.name;
  WeightBinder binder(source);
  const auto weights = family.bind(config_, binder);
  binder.finish(where);  // from here on every tensor is known to be what the config asks for
  ignored_ = binder.ignored();

  WeightReader numbers(options, backend, byte_count(source.tensors()));
  tokens_ = numbers.matrix(weights.tokens);
  if (weights.positions) positions_ = numbers.matrix(*weights.positions);
  for (const auto& block : weights.blocks)
    blocks_.push_back(numbers.block(block, config_, static_cast<std::int64_t>(blocks_.size())));
  if (weights.embed_in) embed_in_ = numbers.linear(*weights.embed_in);
  if (weights.embed_out) embed_out_ = numbers.linear(*weights.embed_out);
  if (config_.embedding_norm) embedding_norm_ = numbers.norm(weights.embedding_norm, config_.norm);
  if (config_.final_norm) final_norm_ = numbers.norm(weights.final_norm, config_.norm);
  head_ = numbers.linear(weights.head);
  widened_ = numbers.take_widened();
}

Model Model::load(const fs::path& directory, const LoadOptions& options) {
  require_directory(directory);
  const auto reader = JsonReader::open(directory / "config.json");
  const auto& family = find_family(reader);

  Model model;
  model.directory_ = directory;
  model.config_ = read_config(family, reader, options.ignored_keys);
  add_end_tokens(directory, model.config_);
  if (model.config_.name.empty()) model.config_.name = fs::canonical(directory).filename().string();
  const auto opened = open_weights(directory);
  model.format_ = opened.format;
  model.source_ = opened.source;
  model.take(family, *opened.source, directory.string(), options);
  return model;
}

Model Model::random(const JsonReader& config, std::uint64_t seed, const LoadOptions& options) {
  const auto& family = find_family(config);
  Model model;
  model.format_ = "random";
  model.config_ = read_config(family, config, options.ignored_keys);
  if (model.config_.name.empty()) model.config_.name = config.where();
  const NoWeights nothing;
  WeightBinder wishes(nothing);
  (void)family.bind(model.config_, wishes);
  model.source_ = random_weights(wishes.asked(), seed);
  model.take(family, *model.source_, config.where(), options);
  return model;
}

}  // namespace qkv
