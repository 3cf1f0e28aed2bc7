#include "qkv/model/families/published_keys.hpp"

#include <fmt/format.h>

#include <cmath>

namespace qkv {

std::string_view name_used(const JsonReader& reader, std::initializer_list<std::string_view> names) {
  std::string_view used;
  for (const auto name : names) {
    if (!reader.has(name)) continue;
    if (used.empty())
      used = name;
    else if (reader.raw(name) != reader.raw(used))
      reader.fail(name, fmt::format("what '{}' says, {}", used, reader.raw(used).dump()));
  }
  return used.empty() ? *names.begin() : used;
}

void require(const JsonReader& reader, std::string_view key, bool only) {
  if (reader.boolean_or(key, only) != only) reader.fail(key, only ? "true" : "false");
}

void require(const JsonReader& reader, std::string_view key, std::string_view only) {
  if (reader.text_or(key, only) != only) reader.fail(key, fmt::format("\"{}\"", only));
}

void ignore_keys(const JsonReader& reader, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) reader.ignore(key);
}

Config read_sizes(const JsonReader& reader, const SizeKeys& keys) {
  Config config;
  config.n_layers = reader.integer(keys.n_layers, layer_range);
  config.d_model = reader.integer(keys.d_model, width_range);
  config.n_vocab = keys.absent_n_vocab > 0 && !reader.has("vocab_size")
                       ? keys.absent_n_vocab
                       : reader.integer("vocab_size", vocabulary_range);
  config.n_ctx = reader.integer_or(keys.n_ctx, keys.absent_n_ctx, context_range);
  read_tokens(reader, config);
  return config;
}

AttentionConfig read_heads(const JsonReader& reader, const HeadKeys& keys, std::int64_t d_model) {
  AttentionConfig attention;
  attention.n_heads = reader.integer(keys.n_heads, head_range);
  attention.n_kv_heads =
      keys.n_kv_heads.empty() ? attention.n_heads : reader.integer_or(keys.n_kv_heads, attention.n_heads, head_range);
  attention.head_dim = !keys.head_dim.empty() && reader.has(keys.head_dim)
                           ? reader.integer(keys.head_dim, width_range)
                           : divide_into_heads(reader, keys.d_model, d_model, attention.n_heads);
  attention.scale = 1.0 / std::sqrt(static_cast<double>(attention.head_dim));
  return attention;
}

void set_biases(AttentionConfig& attention, bool of_qkv, bool of_o) {
  attention.bias_q = attention.bias_k = attention.bias_v = of_qkv;
  attention.bias_o = of_o;
}

NormConfig read_layer_norm(const JsonReader& reader, std::string_view key) {
  NormConfig norm;
  norm.epsilon = static_cast<float>(reader.number_or(key, 1e-5, epsilon_range));
  return norm;
}

}  // namespace qkv
