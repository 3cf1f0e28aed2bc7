#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "qkv/model/config_keys.hpp"

namespace qkv {

/// What the config.json files of several families say in the same way, under names of their own.

/// The name under which a value stands that has had several names; the first of them where it is absent. Given twice,
/// it must be given alike.
[[nodiscard]] std::string_view name_used(const JsonReader& reader, std::initializer_list<std::string_view> names);

/// A key whose other values would change the arithmetic in a way that is not known here: where it is given, it must be
/// `only`.
void require(const JsonReader& reader, std::string_view key, bool only);
void require(const JsonReader& reader, std::string_view key, std::string_view only);

/// Keys that do not reach the arithmetic.
void ignore_keys(const JsonReader& reader, std::initializer_list<std::string_view> keys);

struct SizeKeys {
  std::string_view n_layers;
  std::string_view d_model;
  std::string_view n_ctx;
  std::int64_t absent_n_ctx;
  std::int64_t absent_n_vocab = 0;  // 0: it must be there
};
/// Layers, width, vocabulary and context, and the tokens of both ends.
[[nodiscard]] Config read_sizes(const JsonReader& reader, const SizeKeys& keys);

/// Heads of width d_model / n_heads, or what `head_dim` says, and the usual scale, 1 / sqrt(head_dim). Keys that a
/// family has not are "": then there are as many key/value heads as heads.
struct HeadKeys {
  std::string_view n_heads;
  std::string_view d_model;
  std::string_view n_kv_heads = "";
  std::string_view head_dim = "";
};
[[nodiscard]] AttentionConfig read_heads(const JsonReader& reader, const HeadKeys& keys, std::int64_t d_model);
void set_biases(AttentionConfig& attention, bool of_qkv, bool of_o);

/// A layer norm whose epsilon stands under `key`, 1e-5 where it is absent.
[[nodiscard]] NormConfig read_layer_norm(const JsonReader& reader, std::string_view key);

}  // namespace qkv
