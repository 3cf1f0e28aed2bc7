#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/io/weight_source.hpp"
#include "qkv/model/block.hpp"
#include "qkv/model/config.hpp"
#include "qkv/model/model_files.hpp"

namespace qkv {

struct LoadOptions {
  std::string backend = "auto";                    // who multiplies by the learned matrices
  ops::Precision precision = ops::Precision::f32;  // of the linear layers
  std::vector<std::string> ignored_keys;           // keys of the config to let through though nobody understands them
  bool read_weights = true;  // false: check everything, but leave the numbers on disk until they are used
  std::function<void(std::int64_t done, std::int64_t total)> progress;  // bytes of weights read
};

/// A model, opened and checked: what it computes (Config) and its learned numbers, mapped from the files where they are
/// f32, widened exactly where not, or packed as the backend likes. Immutable; any number of sessions may share it.
class Model {
 public:
  /// Opens a model directory, or a file that holds a whole model. Throws Error{model} naming file, key or tensor when
  /// it cannot be run.
  [[nodiscard]] static Model load(const std::filesystem::path& path, const LoadOptions& options = {});
  /// A model as a config.json describes it, of any family, with random numbers in memory: for timing, without files.
  /// Throws Error{model} like load(), and when there is not as much memory.
  [[nodiscard]] static Model random(const JsonReader& config, std::uint64_t seed, const LoadOptions& options = {});

  [[nodiscard]] const Config& config() const { return config_; }
  /// The directory or file that was opened; empty for a random one.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// What it is called: by its config, else by its directory or file.
  [[nodiscard]] const std::string& name() const { return config_.name; }

  /// [V, E]
  [[nodiscard]] ConstMatrixView tokens() const { return tokens_; }
  /// From a token's row to the stream and from the stream to what the head reads, [D, E] and [E, D]; nothing where E is
  /// D.
  [[nodiscard]] const std::optional<ops::Linear>& embed_in() const { return embed_in_; }
  [[nodiscard]] const std::optional<ops::Linear>& embed_out() const { return embed_out_; }
  [[nodiscard]] const std::optional<Norm>& embedding_norm() const { return embedding_norm_; }
  /// [n_ctx, D], or nothing where positions are not learned.
  [[nodiscard]] ConstMatrixView positions() const { return positions_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const std::optional<Norm>& final_norm() const { return final_norm_; }
  [[nodiscard]] const ops::Linear& head() const { return head_; }
  /// Whether every product gives a row the same bits whatever stands beside it, and however many threads there are.
  [[nodiscard]] bool rows_stand_alone() const;

  /// For people: the format of the weights, every stored tensor, and those that were not needed.
  [[nodiscard]] std::string_view format() const { return format_; }
  [[nodiscard]] std::string_view backend() const { return backend_; }
  [[nodiscard]] ops::Precision precision() const { return precision_; }
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const { return source_->tensors(); }
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  Model() = default;
  void take(ModelFiles files, const LoadOptions& options);

  std::filesystem::path path_;
  std::string_view format_;
  std::string_view backend_;
  ops::Precision precision_ = ops::Precision::f32;
  Config config_;
  std::shared_ptr<const WeightSource> source_;  // the views below point into it,
  std::vector<Buffer> widened_;                 // or into these
  std::vector<std::string> ignored_;
  ConstMatrixView tokens_;
  ConstMatrixView positions_;
  std::vector<Block> blocks_;
  std::optional<ops::Linear> embed_in_;
  std::optional<ops::Linear> embed_out_;
  std::optional<Norm> embedding_norm_;
  std::optional<Norm> final_norm_;
  ops::Linear head_;
};

}  // namespace qkv
