#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/model/config.hpp"

namespace qkv {

/// A key or a tensor: what GGUF calls it, and what the family's own files do.
struct GgufName {
  /// What GGUF's converter does to the numbers, where it does not leave them as they are.
  enum class Change {
    none,
    transposed,  // [out, in] in place of [in, out]
    ungrouped,   // all queries, all keys, all values, in place of those of each key/value head
  };
  std::string_view stored;
  std::string_view published;
  Change change = Change::none;
};

/// How GGUF keeps the models of one architecture: everything as the family's config.json and tensors have it, under
/// other names. A new architecture is one more entry in gguf_architectures.cpp.
struct GgufArchitecture {
  /// Which numbers of a head are turned together; `pairs` where GGUF's converter puts the rows of W_q and W_k in
  /// another order than the family's files.
  enum class Rotary { none, as_family, pairs };

  std::string_view name = {};           // `general.architecture`, with which its keys begin
  std::string_view fixed = {};          // JSON: what the architecture implies and the family's config.json says
  std::vector<GgufName> keys = {};      // without the architecture's name in front
  std::string_view block = {};          // the family's names of a block's tensors begin with this and the number
  std::vector<GgufName> tensors = {};   // outside of blocks, without .weight or .bias
  std::vector<GgufName> in_block = {};  // in one, without "blk.N." and the family's own beginning
  std::vector<GgufName> flags = {};     // a tensor of the first block, and the key that is true where it is there
  Rotary rotary = Rotary::none;
  std::string_view turned_share = {};  // the key for the share of a head that is turned; empty: all of it
  /// For keys that follow from several others. The metadata's keys begin with the architecture's name.
  void (*complete)(const JsonReader& metadata, nlohmann::json& config) = nullptr;
  /// For what the family's keys cannot say.
  void (*adjust)(Config& config) = nullptr;
};

[[nodiscard]] std::span<const GgufArchitecture> gguf_architectures();

}  // namespace qkv
