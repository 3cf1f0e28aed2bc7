#include "qkv/model/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/sink.hpp"
#include "qkv/model/converted_files.hpp"
#include "qkv/model/native_config.hpp"
#include "qkv/model/native_tensors.hpp"
#include "qkv/model/weight_reader.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

/// Notes each tensor of the native form with the place where the opened model has it.
class Planning {
 public:
  explicit Planning(bool tied) : tied_(tied) {}

  void matrix(const std::string& name, const MatrixRef& ref, std::int64_t rows, std::int64_t cols) {
    add(name, {rows, cols}, ref, false);
  }
  void norm(const std::string& name, const NormRef& ref, const NormConfig&, std::int64_t) {
    vector(name + ".gain", ref.gain);
    vector(name + ".bias", ref.bias);
  }
  void linear(const TensorNames& names, const LinearRef& ref, std::int64_t out, std::int64_t in, bool) {
    add(names.weight, {out, in}, ref.matrix, ref.layout == ops::Layout::in_out);
    vector(names.bias, ref.bias);
  }
  void head(const TensorNames& names, const LinearRef& ref) {
    const auto [rows, cols] = std::pair(ref.matrix.rows, ref.matrix.cols);
    const bool transposed = ref.layout == ops::Layout::in_out;
    if (!tied_) add(names.weight, transposed ? Shape{cols, rows} : Shape{rows, cols}, ref.matrix, transposed);
    vector(names.bias, ref.bias);
  }

  [[nodiscard]] std::vector<ConvertedTensor> take() { return std::move(tensors_); }

 private:
  void add(const std::string& name, Shape shape, const MatrixRef& ref, bool transposed) {
    tensors_.push_back({{name, DType::f32, std::move(shape)}, ref, transposed});
  }
  void vector(const std::string& name, const VectorRef& ref) {
    if (ref.tensor != nullptr) add(name, {ref.count}, as_matrix(ref), false);
  }

  /// A vector is one row; one in groups is a column, each of whose numbers is a row; each of
  /// joined tensors is a row.
  static MatrixRef as_matrix(const VectorRef& ref) {
    if (!ref.joined.empty()) {
      const auto rows = static_cast<std::int64_t>(ref.joined.size());
      return {ref.tensor, 0, rows, ref.count / rows, ref.count / rows, {}, ref.joined};
    }
    if (ref.groups.group == 0) return {ref.tensor, ref.first, 1, ref.count, ref.count, {}};
    return {ref.tensor, ref.first, ref.count, 1, 1, ref.groups};
  }

  bool tied_;
  std::vector<ConvertedTensor> tensors_;
};

/// That of all tensors where it is one.
DType common_dtype(const std::vector<ConvertedTensor>& tensors) {
  const auto first = tensors.front().from.tensor->dtype;
  const bool uniform = std::all_of(tensors.begin(), tensors.end(),
                                   [&](const ConvertedTensor& tensor) { return tensor.from.tensor->dtype == first; });
  return uniform && is_weight_dtype(first) && block_length(first) == 1 ? first : DType::f32;
}

/// Writes the numbers of one tensor, row by row.
class TensorWriting {
 public:
  TensorWriting(const PlannedTensor& tensor, WeightWriter& writer, const std::function<void(std::int64_t)>& written)
      : tensor_(tensor), writer_(writer), written_(written), limit_(smallest_infinite(tensor.dtype)) {}

  void rows(ConstMatrixView numbers) {
    for (std::int64_t r = 0; r < numbers.rows; ++r) row(numbers.row(r));
  }
  /// `numbers` [in, out], written as [out, in], some columns at a time.
  void columns(ConstMatrixView numbers) {
    constexpr std::int64_t strip = 64;  // numbers of a line of both sides stay in the cache
    const Buffer buffer(std::min(strip, numbers.cols) * numbers.rows);
    for (std::int64_t first = 0; first < numbers.cols; first += strip) {
      const auto part = numbers.columns(first, std::min(strip, numbers.cols - first));
      const auto turned = buffer.view(part.cols, part.rows);
      for (std::int64_t r = 0; r < part.rows; ++r)
        for (std::int64_t c = 0; c < part.cols; ++c) turned.at(c, r) = part.at(r, c);
      rows(turned);
    }
  }

 private:
  void row(std::span<const float> numbers) {
    for (const auto number : numbers)
      if (std::isfinite(number) && std::abs(number) >= limit_)
        throw Error(ErrorCode::numbers, fmt::format("tensor '{}': expected numbers that {} can hold, found {}",
                                                    tensor_.name, name_of(tensor_.dtype), number));
    bytes_.resize(numbers.size() * size_of(tensor_.dtype));
    narrow(tensor_.dtype, numbers.data(), numbers.size(), bytes_.data());
    writer_.write({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
    written_(static_cast<std::int64_t>(bytes_.size()));
  }

  const PlannedTensor& tensor_;
  WeightWriter& writer_;
  const std::function<void(std::int64_t)>& written_;
  float limit_;
  std::vector<std::byte> bytes_;
};

/// A reader of its own for each tensor, so that what had to be widened is gone with it.
void write_tensor(const WeightSource& source, const ConvertedTensor& tensor, WeightWriter& writer,
                  const std::function<void(std::int64_t)>& written) {
  LoadOptions options;
  options.read_weights = false;
  WeightReader reader(options, ops::linear_backends().back(), source);
  const auto numbers = reader.matrix(tensor.from);
  writer.begin(tensor.planned);
  TensorWriting writing(tensor.planned, writer, written);
  if (tensor.transposed)
    writing.columns(numbers);
  else
    writing.rows(numbers);
  writer.end();
}

std::unique_ptr<WeightWriter> make_writer(WeightForm form, const fs::path& directory,
                                          const std::vector<PlannedTensor>& tensors) {
  return form == WeightForm::native ? raw_files_writer(directory) : safetensors_file_writer(directory, tensors);
}

void write_config(const Config& config, const fs::path& directory) {
  auto object = native_config_json(config);
  object[written_by_key] = written_by;
  AtomicFile file(directory / "config.json");
  file.write(object.dump(2) + "\n");
  file.commit();
}

}  // namespace

std::int64_t ConversionPlan::byte_count() const {
  std::int64_t total = 0;
  for (const auto& tensor : tensors) total += tensor.planned.byte_count();
  return total;
}

ConversionPlan plan_conversion(const ModelFiles& files, std::optional<DType> dtype) {
  Planning planning(files.config.head.tied);
  visit_native_tensors(files.config, files.weights, planning);
  ConversionPlan plan{DType::f32, planning.take()};
  plan.dtype = dtype.value_or(common_dtype(plan.tensors));
  for (auto& tensor : plan.tensors) tensor.planned.dtype = plan.dtype;
  return plan;
}

void write_converted(const ModelFiles& files, const ConversionPlan& plan, WeightForm form, const fs::path& directory,
                     const ConversionProgress& progress) {
  constexpr std::int64_t worth_telling = 1 << 20;
  write_config(files.config, directory);
  std::vector<PlannedTensor> planned;
  for (const auto& tensor : plan.tensors) planned.push_back(tensor.planned);
  const auto writer = make_writer(form, directory, planned);
  const auto total = plan.byte_count();
  std::int64_t done = 0;
  std::int64_t told = 0;
  const std::function<void(std::int64_t)> written = [&](std::int64_t bytes) {
    done += bytes;
    if (!progress || (done - told < worth_telling && done < total)) return;
    told = done;
    progress(done, total);
  };
  for (const auto& tensor : plan.tensors) write_tensor(*files.source, tensor, *writer, written);
  writer->finish();
}

}  // namespace qkv
