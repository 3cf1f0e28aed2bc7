#include "qkv/model/model_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/model/container.hpp"
#include "qkv/model/family.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

/// What the directory or file is really called, not ".", say.
std::string real_name(const fs::path& path) {
  std::error_code error;
  const auto real = fs::canonical(path, error);
  if (error)
    throw Error(ErrorCode::model,
                fmt::format("{}: expected a path that can be followed, for the name of the model, found: {}",
                            path.string(), error.message()));
  return real.filename().string();
}

void add_end_tokens(const std::vector<std::int64_t>& more, Config& config) {
  for (const auto id : more) {
    const auto token = static_cast<TokenId>(std::clamp<std::int64_t>(id, -1, config.n_vocab));
    const bool known = std::find(config.eos.begin(), config.eos.end(), token) != config.eos.end();
    if (!known && token >= 0 && token < config.n_vocab) config.eos.push_back(token);
  }
}

/// Holds nothing, so that all that a family asks for is only noted.
class NoWeights : public WeightSource {
 public:
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return none_; }

 private:
  std::vector<StoredTensor> none_;
};

}  // namespace

std::int64_t ModelFiles::byte_count() const {
  std::int64_t total = 0;
  for (const auto& tensor : source->tensors()) total += static_cast<std::int64_t>(tensor.bytes.size());
  return total;
}

ModelFiles bind_model(const Family& family, Config config, std::shared_ptr<const WeightSource> source,
                      const std::string& where) {
  ModelFiles files;
  WeightBinder binder(*source);
  files.weights = family.bind(config, binder);
  binder.finish(where);  // from here on every tensor is known to be what the config asks for
  files.config = std::move(config);
  files.source = std::move(source);
  files.asked = binder.asked();
  files.ignored = binder.ignored();
  return files;
}

ModelFiles open_model_files(const fs::path& path, std::span<const std::string> ignored_keys) {
  const auto found = open_container(path);
  const auto& family = find_family(found.config);
  auto config = read_config(family, found.config, ignored_keys);
  if (found.adjust) found.adjust(config);
  add_end_tokens(found.end_tokens, config);
  if (config.name.empty()) config.name = real_name(path);
  const auto opened = found.weights();
  auto files = bind_model(family, std::move(config), opened.source, path.string());
  files.path = path;
  files.format = opened.format;
  return files;
}

ModelOutline outline_model(const JsonReader& config, std::span<const std::string> ignored_keys) {
  const auto& family = find_family(config);
  ModelOutline outline{read_config(family, config, ignored_keys), {}};
  if (outline.config.name.empty()) outline.config.name = config.where();
  const NoWeights nothing;
  WeightBinder wishes(nothing);
  (void)family.bind(outline.config, wishes);
  outline.asked = wishes.asked();
  return outline;
}

}  // namespace qkv
