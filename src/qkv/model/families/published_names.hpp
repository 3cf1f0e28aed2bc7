#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/model/weight_binder.hpp"

namespace qkv {

/// What the tensors of a family are called, and how those that hold W_q, W_k and W_v together are cut. Most families
/// differ from each other in nothing else. A name stands for `<name>.weight` and `<name>.bias`; which of the tensors
/// there are, the Config says.

/// A matrix with the rows of W_q, W_k and W_v: `groups` times some queries, the keys that belong to them, the values.
/// One group: all queries, all keys, all values. As many as key/value heads: each with the queries that it serves.
struct Fused {
  std::int64_t groups = 1;
  bool values_first = false;  // of each group, before the keys
};

struct BlockNames {
  std::string_view attn_norm = {};
  std::string_view q = {}, k = {}, v = {};  // each by itself, or
  std::string_view qkv = {};                // all in one
  Fused fused = {};
  ops::Layout layout = ops::Layout::out_in;  // of all linear maps; cut in groups only as [out, in]
  std::string_view o = {};
  std::string_view mlp_norm = {};
  std::string_view in = {}, gate = {}, out = {};
  std::string_view q_norm = {}, k_norm = {};
  std::vector<std::string_view> unused = {};  // whole names of what old files hold and nobody needs
};

struct ModelNames {
  std::vector<std::string_view> roots = {};  // what names may begin with, "" among them
  std::string_view tokens = {};
  std::string_view embedding_norm = {};
  std::string_view positions = {};
  std::int64_t positions_first = 0;  // rows of the table that no token uses
  std::string_view layers = {};      // "h": blocks are "h.0.", "h.1.", ...
  BlockNames block = {};
  std::string_view final_norm = {};
  std::string_view head = {};
};

/// Names that one family chose and others took over, some of them changed. Whether a family has what they name
/// (positions, a gate), the Config says.
[[nodiscard]] ModelNames gpt2_names();   // but for W_q, W_k and W_v
[[nodiscard]] ModelNames bloom_names();  // W_q, W_k and W_v in one matrix, head by head
[[nodiscard]] ModelNames llama_names();

/// The root that the files use: the first under which they have the token embedding, else the first of all.
[[nodiscard]] std::string find_root(const WeightBinder& binder, const ModelNames& names);

/// Asks for every tensor that the Config says there is, but for embed_in and embed_out.
[[nodiscard]] Weights bind_by_names(const Config& config, WeightBinder& binder, const ModelNames& names);

}  // namespace qkv
