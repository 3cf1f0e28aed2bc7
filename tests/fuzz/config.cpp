// A config.json of any family: what it says, and where that is small, a model with random numbers.

#include <algorithm>

#include "fuzz/json_mutator.hpp"
#include "fuzz/run.hpp"
#include "qkv/model/model_files.hpp"
#include "qkv/tensor/shape.hpp"

namespace {

bool is_small(const qkv::ModelOutline& outline) {
  constexpr std::int64_t most_numbers = 1 << 14;
  std::int64_t total = 0;
  return std::all_of(outline.asked.begin(), outline.asked.end(), [&](const qkv::AskedTensor& tensor) {
    const auto count = qkv::element_count(tensor.shape);
    return count && *count <= most_numbers && (total += *count) <= most_numbers;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const qkv::fuzz::Directory directory;
  const auto path = directory.write("config.json", qkv::fuzz::Input(data, size).rest());
  (void)qkv::fuzz::accepted([&] {
    const auto config = qkv::JsonReader::open(path);
    if (is_small(qkv::outline_model(config))) qkv::fuzz::run(qkv::Model::random(config, 1));
  });
  return 0;
}
