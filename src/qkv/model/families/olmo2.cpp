#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// OLMo 2: each half of a block reads the stream as it is and norms what it adds; all of q, and all of k, is normed at
/// once.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {.epsilon = 1e-5});
  config.norm_places = {.before = false, .after = true, .stream = false};
  config.position = read_whole_rotary(reader, config);
  config.attention.qk_norm = {QkNormConfig::Kind::whole, config.norm};
  read_attention_bias(reader, config.attention);
  return config;
}

}  // namespace

Family olmo2_family() { return {"olmo2", "Olmo2ForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
