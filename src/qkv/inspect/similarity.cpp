#include "qkv/inspect/similarity.hpp"

#include <algorithm>

#include "qkv/model/session.hpp"
#include "qkv/ops/matmul.hpp"

namespace qkv {

Buffer similarity(const Model& model, std::span<const TokenId> ids) {
  const auto n = static_cast<std::int64_t>(ids.size());
  const auto width = model.config().d_model;
  check_ids(model.config(), ids);
  const Buffer embedded(n * width);
  const auto rows = embedded.view(n, width);
  for (std::int64_t t = 0; t < n; ++t) {
    const auto id = ids[static_cast<std::size_t>(t)];
    const auto token = model.tokens().row(id);
    std::copy(token.begin(), token.end(), rows.row(t).begin());
  }
  Buffer table(n * n);
  ops::matmul_transposed(rows, rows, 1.0F, table.view(n, n));
  return table;
}

}  // namespace qkv
