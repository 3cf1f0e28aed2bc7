#include "qkv/model/families/gemma_like.hpp"

#include <cmath>

namespace qkv {
namespace {

constexpr NumberRange cap_range{1e-3, 1e6};

double read_cap(const JsonReader& reader, std::string_view key, double absent) {
  return reader.number_or(key, reader.is_null(key) ? 0.0 : absent, cap_range);
}

}  // namespace

Config read_gemma_like(const JsonReader& reader, LlamaDefaults defaults) {
  defaults.tied = true;
  defaults.head_dim = 256;
  auto config = read_llama_like(reader, defaults);
  config.norm.gain_offset = 1.0F;
  config.embedding_scale = std::sqrt(static_cast<double>(config.d_model));
  read_attention_bias(reader, config.attention);
  require_false(reader, "use_bidirectional_attention");
  reader.ignore("cache_implementation");  // how another program keeps keys and values
  return config;
}

void read_gemma2_extras(const JsonReader& reader, double score_cap, double logit_cap, Config& config) {
  config.norm_places.after = true;
  config.attention.scale = 1.0 / std::sqrt(reader.number_or("query_pre_attn_scalar", 256.0, {1e-3, 1e6}));
  config.attention.soft_cap = read_cap(reader, "attn_logit_softcapping", score_cap);
  config.head.soft_cap = read_cap(reader, "final_logit_softcapping", logit_cap);
  reader.ignore("hidden_act");  // overruled by `hidden_activation`, whether that is there or not
}

}  // namespace qkv
