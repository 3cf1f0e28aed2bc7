#include "qkv/model/weight_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace qkv {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 16U;  // numbers widened at a time; whole blocks of any dtype

/// Sums over the finite numbers of one tensor.
class Sums {
 public:
  void add(std::span<const float> numbers, TensorCheck& check) {
    for (const auto number : numbers) {
      if (std::isfinite(number)) {
        least_ = std::min(least_, number);
        greatest_ = std::max(greatest_, number);
        sum_ += static_cast<double>(number);
        squares_ += static_cast<double>(number) * static_cast<double>(number);
      } else if (check.not_finite++ == 0) {
        check.first_not_finite = check.count;
        check.found = number;
      }
      ++check.count;
    }
  }

  void finish(TensorCheck& check) const {
    const auto finite = static_cast<double>(check.count - check.not_finite);
    if (finite == 0.0) return;
    check.least = least_;
    check.greatest = greatest_;
    check.mean = sum_ / finite;
    check.deviation = std::sqrt(std::max(squares_ / finite - check.mean * check.mean, 0.0));
  }

 private:
  float least_ = std::numeric_limits<float>::infinity();
  float greatest_ = -std::numeric_limits<float>::infinity();
  double sum_ = 0.0;
  double squares_ = 0.0;
};

}  // namespace

std::string TensorCheck::index() const {
  Shape place;
  auto rest = first_not_finite;
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    place.insert(place.begin(), rest % *extent);
    rest /= *extent;
  }
  return to_string(place);
}

std::vector<TensorCheck> check_weights(const ModelFiles& files,
                                       const std::function<void(std::int64_t, std::int64_t)>& progress) {
  auto asked = files.asked;
  std::sort(asked.begin(), asked.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<TensorCheck> checks;
  std::vector<float> numbers(chunk);
  std::int64_t done = 0;
  const auto total = files.byte_count();
  for (const auto& [name, shape, gain] : asked) {
    const auto& tensor = *find_tensor(*files.source, name);
    const auto width = size_of(tensor.dtype);
    const auto length = block_length(tensor.dtype);
    auto& check = checks.emplace_back();
    check.name = name;
    check.shape = shape;
    Sums sums;
    for (auto rest = tensor.bytes; !rest.empty();) {
      const auto count = std::min(chunk, rest.size() / width * length);
      widen(tensor.dtype, rest.data(), count, numbers.data());
      sums.add(std::span(numbers).first(count), check);
      const auto size = count / length * width;
      rest = rest.subspan(size);
      done += static_cast<std::int64_t>(size);
      if (progress) progress(done, total);
    }
    sums.finish(check);
  }
  return checks;
}

}  // namespace qkv
