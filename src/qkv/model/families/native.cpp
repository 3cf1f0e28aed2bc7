#include "qkv/model/families/families.hpp"
#include "qkv/model/native_config.hpp"
#include "qkv/model/native_tensors.hpp"

/// The project's own form: every choice of a Config is spelled out, none has a default, and each tensor is called what
/// the block calls it.
namespace qkv {
namespace {

/// Asks for each tensor and notes where it is.
struct Binding {
  const Config& config;
  WeightBinder& binder;
  const MatrixRef& tokens;

  void matrix(const std::string& name, MatrixRef& ref, std::int64_t rows, std::int64_t cols) const {
    ref = binder.matrix(name, rows, cols);
  }
  void norm(const std::string& name, NormRef& ref, const NormConfig& norm, std::int64_t width) const {
    ref = binder.norm({name + ".gain", name + ".bias"}, norm, width);
  }
  void linear(const TensorNames& names, LinearRef& ref, std::int64_t out, std::int64_t in, bool bias) const {
    ref = binder.linear(names, out, in, bias);
  }
  void head(const TensorNames& names, LinearRef& ref) const { ref = binder.head(names, config, tokens); }
};

Weights bind(const Config& config, WeightBinder& binder) {
  Weights weights;
  weights.blocks.resize(static_cast<std::size_t>(config.n_layers));
  Binding binding{config, binder, weights.tokens};
  visit_native_tensors(config, weights, binding);
  return weights;
}

}  // namespace

Family native_family() { return {"qkv", "", read_native_config, bind}; }

}  // namespace qkv
