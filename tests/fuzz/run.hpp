#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

#include "fuzz/input.hpp"
#include "qkv/core/token_id.hpp"
#include "qkv/model/config.hpp"
#include "qkv/model/model.hpp"
#include "qkv/model/model_files.hpp"
#include "qkv/model/session.hpp"
#include "qkv/model/weight_check.hpp"

namespace qkv::fuzz {

/// One pass over two tokens and one over a third, where they are little work.
inline void run(const Model& model) {
  const auto& config = model.config();
  (void)describe(config);
  constexpr std::int64_t most_numbers = 1 << 16;
  if (config.parameter_count() > most_numbers) return;
  Session session(model, 1);
  const auto last = static_cast<TokenId>(config.n_vocab - 1);
  const std::array<TokenId, 3> ids{0, last, std::min(1, last)};
  (void)session.forward(std::span(ids).first(2), Rows::all);
  (void)session.forward(std::span(ids).last(1));
}

inline void load_and_run(const std::filesystem::path& path) {
  (void)accepted([&] {
    run(Model::load(path));
    (void)check_weights(open_model_files(path));
  });
}

}  // namespace qkv::fuzz
