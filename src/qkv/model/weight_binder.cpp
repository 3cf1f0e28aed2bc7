#include "qkv/model/weight_binder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "qkv/core/error.hpp"

namespace qkv {
namespace {

constexpr std::size_t most_problems_listed = 8;

/// What a tensor must look like and does not, or nothing. Numbers are counted before a shape is trusted.
std::optional<std::string> mismatch(const StoredTensor& tensor, const Shape& expected, bool knows_shape) {
  const auto name = fmt::format("{}: tensor '{}'", tensor.file, tensor.name);
  if (!is_weight_dtype(tensor.dtype))
    return fmt::format("{}: expected dtype f32, f16 or bf16, found {}", name, name_of(tensor.dtype));
  if (knows_shape && tensor.shape != expected)
    return fmt::format("{}: expected shape {}, found {}", name, to_string(expected), to_string(tensor.shape));
  const auto count = element_count(expected);
  const auto bytes = count ? byte_count(tensor.dtype, *count) : std::nullopt;
  if (!bytes || static_cast<std::size_t>(*bytes) != tensor.bytes.size())
    return fmt::format("{}: expected {} bytes for {} {}, found {}", name,
                       bytes ? fmt::format("{}", *bytes) : "too many", name_of(tensor.dtype), to_string(expected),
                       tensor.bytes.size());
  return std::nullopt;
}

}  // namespace

LinearRef LinearRef::outputs(std::int64_t first, std::int64_t count) const {
  auto part = *this;
  if (layout == ops::Layout::out_in) {
    part.matrix.first += first * matrix.stride;
    part.matrix.rows = count;
  } else {
    part.matrix.first += first;
    part.matrix.cols = count;
  }
  if (bias.tensor != nullptr) part.bias = {bias.tensor, bias.first + first, count, {}};
  return part;
}

LinearRef LinearRef::outputs_in_groups(std::int64_t first, std::int64_t count, const RowGroups& groups) const {
  auto part = outputs(first, count);
  part.matrix.groups = groups;
  part.bias.groups = groups;
  return part;
}

void WeightBinder::note(std::string problem) { problems_.push_back(std::move(problem)); }

const StoredTensor* WeightBinder::take(const std::string& published, const Shape& shape, bool gain) {
  const auto name = source_.name_in_file(published);
  if (taken_.insert(name).second) asked_.push_back({name, shape, gain});
  const auto* tensor = find_tensor(source_, name);
  if (tensor == nullptr) {
    note(fmt::format("tensor '{}': expected shape {}, found nothing", name, to_string(shape)));
    return nullptr;
  }
  if (const auto problem = mismatch(*tensor, shape, source_.knows_shapes())) {
    note(*problem);
    return nullptr;
  }
  return tensor;
}

/// All numbers of a tensor, one after the other.
VectorRef WeightBinder::numbers(const std::string& name, const Shape& shape, bool gain) {
  return {take(name, shape, gain), 0, element_count(shape).value_or(0), {}};
}

VectorRef WeightBinder::vector(const std::string& name, std::int64_t count) { return numbers(name, {count}); }

MatrixRef WeightBinder::matrix(const std::string& name, std::int64_t rows, std::int64_t cols) {
  return {take(name, {rows, cols}), 0, rows, cols, cols, {}};
}

NormRef WeightBinder::norm(const TensorNames& names, const Config& config) {
  return norm(names, config.norm, config.d_model);
}

NormRef WeightBinder::norm(const TensorNames& names, const NormConfig& config, std::int64_t width) {
  return norm(names, config, Shape{width});
}

NormRef WeightBinder::norm(const TensorNames& names, const NormConfig& config, const Shape& shape) {
  NormRef norm;
  if (!config.gain) return norm;
  norm.gain = numbers(names.weight, shape, true);
  if (config.bias) norm.bias = numbers(names.bias, shape);
  return norm;
}

LinearRef WeightBinder::linear(const TensorNames& names, std::int64_t out, std::int64_t in, bool bias,
                               ops::Layout layout) {
  const auto* stored = find_tensor(source_, source_.name_in_file(names.weight));
  if (stored != nullptr && stored->transposed)
    layout = layout == ops::Layout::out_in ? ops::Layout::in_out : ops::Layout::out_in;
  const bool outputs_first = layout == ops::Layout::out_in;
  LinearRef linear{matrix(names.weight, outputs_first ? out : in, outputs_first ? in : out), layout, {}};
  if (bias) linear.bias = vector(names.bias, out);
  return linear;
}

LinearRef WeightBinder::head(const TensorNames& names, const Config& config, const MatrixRef& tokens) {
  if (!config.head.tied) return linear(names, config.n_vocab, config.token_width(), config.head.bias);
  if (has(names.weight)) {
    spare_head_ = matrix(names.weight, config.n_vocab, config.token_width()).tensor;
    tokens_ = tokens.tensor;
  }
  return {tokens, ops::Layout::out_in, config.head.bias ? vector(names.bias, config.n_vocab) : VectorRef{}};
}

bool WeightBinder::has(const std::string& published) const {
  return find_tensor(source_, source_.name_in_file(published)) != nullptr;
}

void WeightBinder::ignore(const std::string& published) {
  const auto name = source_.name_in_file(published);
  if (find_tensor(source_, name) != nullptr && taken_.insert(name).second) ignored_.push_back(name);
}

void WeightBinder::finish(const std::string& where) {
  for (const auto& tensor : source_.tensors())
    if (taken_.count(tensor.name) == 0)
      note(fmt::format("tensor '{}': expected no such tensor, found {} {} in {}", tensor.name, name_of(tensor.dtype),
                       to_string(tensor.shape), tensor.file));
  if (problems_.empty() && spare_head_ != nullptr) {
    const bool same = spare_head_->dtype == tokens_->dtype &&
                      std::equal(spare_head_->bytes.begin(), spare_head_->bytes.end(), tokens_->bytes.begin());
    if (same)
      ignored_.push_back(spare_head_->name);
    else
      note(
          fmt::format("tensor '{}': expected the numbers of '{}', because the config ties the head to it, found others",
                      spare_head_->name, tokens_->name));
  }
  if (problems_.empty()) return;
  const auto listed = std::min(problems_.size(), most_problems_listed);
  auto text = fmt::format("{}: {}", where,
                          fmt::join(problems_.begin(), problems_.begin() + static_cast<std::ptrdiff_t>(listed), "; "));
  if (listed < problems_.size()) text += fmt::format("; and {} more", problems_.size() - listed);
  throw Error(ErrorCode::model, text);
}

}  // namespace qkv
