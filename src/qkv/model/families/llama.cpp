#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// Llama as Hugging Face publishes it: no biases and a head of its own unless the config says else.
namespace qkv {
namespace {

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {});
  config.position = read_whole_rotary(reader, config);
  read_attention_bias(reader, config.attention);
  config.mlp.bias_in = config.mlp.bias_out = reader.boolean_or("mlp_bias", false);
  require_false(reader, "rope_interleaved");  // written by some trainers, which also say that this is a Llama
  reader.ignore("is_llama_config");
  return config;
}

}  // namespace

Family llama_family() { return {"llama", "LlamaForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
