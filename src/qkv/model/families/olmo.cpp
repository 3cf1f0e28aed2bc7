#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// OLMo: layer norms without anything learned, and bounds for q, k and v where the config says so.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {.epsilon = 1e-5, .epsilon_key = ""});
  config.norm.kind = NormConfig::Kind::layer;
  config.norm.gain = false;
  config.position = read_whole_rotary(reader, config);
  config.attention.clip = reader.number_or("clip_qkv", 0.0, {1e-6, 1e6});
  read_attention_bias(reader, config.attention);
  return config;
}

}  // namespace

Family olmo_family() { return {"olmo", "OlmoForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
