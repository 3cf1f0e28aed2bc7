#include "qkv/model/model.hpp"

#include <algorithm>
#include <utility>

#include "qkv/model/backend_choice.hpp"
#include "qkv/model/family.hpp"
#include "qkv/model/random_weights.hpp"
#include "qkv/model/weight_reader.hpp"

namespace qkv {

/// Reads what was found to be complete.
void Model::take(ModelFiles files, const LoadOptions& options) {
  const auto& backend = choose_backend(options, files.config);
  backend_ = backend.name;
  precision_ = options.precision;
  WeightReader numbers(options, backend, *files.source, files.config.linear_input_group);
  const auto& weights = files.weights;
  tokens_ = numbers.matrix(weights.tokens);
  if (weights.positions) positions_ = numbers.matrix(*weights.positions);
  for (const auto& block : weights.blocks)
    blocks_.push_back(numbers.block(block, files.config, static_cast<std::int64_t>(blocks_.size())));
  if (weights.embed_in) embed_in_ = numbers.linear(*weights.embed_in);
  if (weights.embed_out) embed_out_ = numbers.linear(*weights.embed_out);
  if (files.config.embedding_norm) embedding_norm_ = numbers.norm(weights.embedding_norm, files.config.norm);
  if (files.config.final_norm) final_norm_ = numbers.norm(weights.final_norm, files.config.norm);
  head_ = numbers.linear(weights.head);
  widened_ = numbers.take_widened();

  path_ = std::move(files.path);
  format_ = files.format;
  config_ = std::move(files.config);
  source_ = std::move(files.source);
  ignored_ = std::move(files.ignored);
}

Model Model::load(const std::filesystem::path& path, const LoadOptions& options) {
  Model model;
  model.take(open_model_files(path, options.ignored_keys), options);
  return model;
}

Model Model::random(const JsonReader& config, std::uint64_t seed, const LoadOptions& options) {
  auto outline = outline_model(config, options.ignored_keys);
  auto source = random_weights(outline.asked, seed);
  auto files = bind_model(find_family(config), std::move(outline.config), std::move(source), config.where());
  files.format = "random";
  Model model;
  model.take(std::move(files), options);
  return model;
}

bool Model::rows_stand_alone() const {
  const auto alone = [](const auto& map) { return map.row_block() == 1; };
  return std::all_of(blocks_.begin(), blocks_.end(), alone) && alone(head_) && (!embed_in_ || alone(*embed_in_)) &&
         (!embed_out_ || alone(*embed_out_));
}

}  // namespace qkv
