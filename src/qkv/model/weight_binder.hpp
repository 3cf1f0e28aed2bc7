#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/config.hpp"
#include "qkv/model/weights.hpp"

namespace qkv {

/// The two tensors of a norm or a linear map. Most publishers call them `<name>.weight` and `<name>.bias`.
struct TensorNames {
  std::string weight;
  std::string bias;
};
[[nodiscard]] inline TensorNames weight_and_bias(const std::string& name) { return {name + ".weight", name + ".bias"}; }

/// What a family asked for.
struct AskedTensor {
  std::string name;
  Shape shape;
  bool gain;  // of a norm
};

/// The gate: a family asks for tensors by published name and shape, computed from the Config; every problem is noted,
/// expected against found, and finish() throws them all at once. Until then no number is read.
class WeightBinder {
 public:
  explicit WeightBinder(const WeightSource& source) : source_(source) {}

  [[nodiscard]] bool has(const std::string& published) const;

  [[nodiscard]] VectorRef vector(const std::string& name, std::int64_t count);
  [[nodiscard]] MatrixRef matrix(const std::string& name, std::int64_t rows, std::int64_t cols);
  /// Gain and bias are asked for where the config says so. The first form is for norms of the residual stream.
  [[nodiscard]] NormRef norm(const TensorNames& names, const Config& config);
  [[nodiscard]] NormRef norm(const TensorNames& names, const NormConfig& config, std::int64_t width);
  /// One whose numbers are stored in a shape of their own, [heads, K] say.
  [[nodiscard]] NormRef norm(const TensorNames& names, const NormConfig& config, const Shape& shape);
  [[nodiscard]] LinearRef linear(const TensorNames& names, std::int64_t out, std::int64_t in, bool bias,
                                 ops::Layout layout = ops::Layout::out_in);
  /// The head: the tokens again when it is tied. A tied head that the files hold as well must be the same numbers, else
  /// the config and the files contradict each other.
  [[nodiscard]] LinearRef head(const TensorNames& names, const Config& config, const MatrixRef& tokens);

  /// A tensor that published files hold and nobody needs (a mask, say).
  void ignore(const std::string& published);

  /// Throws Error{model}, beginning with `where`, that lists the problems and the tensors nobody asked for.
  void finish(const std::string& where);
  /// Every tensor asked for, found or not, in that order, each once.
  [[nodiscard]] const std::vector<AskedTensor>& asked() const { return asked_; }
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  [[nodiscard]] VectorRef numbers(const std::string& name, const Shape& shape, bool gain = false);
  const StoredTensor* take(const std::string& published, const Shape& shape, bool gain = false);
  void note(std::string problem);

  const WeightSource& source_;
  std::set<std::string, std::less<>> taken_;
  std::vector<AskedTensor> asked_;
  std::vector<std::string> ignored_;
  std::vector<std::string> problems_;
  const StoredTensor* spare_head_ = nullptr;  // a head that should equal the tokens
  const StoredTensor* tokens_ = nullptr;
};

}  // namespace qkv
