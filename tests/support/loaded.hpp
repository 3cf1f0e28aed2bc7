#pragma once

#include <string_view>
#include <vector>

#include "qkv/model/session.hpp"
#include "support/numbers.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {

/// A tiny model, written and opened. Its files are gone by then: what is mapped stays readable.
[[nodiscard]] inline Model loaded(const TinyModel& model, std::string_view backend = "auto",
                                  ops::Precision precision = ops::Precision::f32) {
  const TemporaryDirectory directory;
  write_native(model, directory.path());
  LoadOptions options;
  options.backend = backend;
  options.precision = precision;
  return Model::load(directory.path(), options);
}

[[nodiscard]] inline std::vector<float> copied(ConstMatrixView view) {
  std::vector<float> numbers;
  for (std::int64_t r = 0; r < view.rows; ++r) numbers.insert(numbers.end(), view.row(r).begin(), view.row(r).end());
  return numbers;
}

[[nodiscard]] inline std::vector<TokenId> random_ids(const Config& config, std::int64_t count,
                                                     std::uint32_t seed = 21) {
  Numbers numbers(seed);
  std::vector<TokenId> ids;
  for (std::int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<TokenId>(numbers.bits() % static_cast<std::uint32_t>(config.n_vocab)));
  return ids;
}

}  // namespace qkv::test
