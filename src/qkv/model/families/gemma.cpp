#include "qkv/model/families/families.hpp"
#include "qkv/model/families/gemma_like.hpp"

/// The first Gemma.
namespace qkv {
namespace {

constexpr std::string_view usual = "gelu_pytorch_tanh";

/// `hidden_activation` is the newer key. In the older one "gelu" was written where its approximation was meant, which
/// is what these models were trained with.
ops::Activation read_activation(const JsonReader& reader) {
  const bool misnamed = reader.text_or("hidden_act", "gelu") == "gelu";
  const auto older = misnamed ? ops::Activation::gelu_tanh : read_published_activation(reader, "hidden_act", usual);
  if (!reader.has("hidden_activation")) return older;
  const auto newer = read_published_activation(reader, "hidden_activation", usual);
  if (reader.has("hidden_act") && newer != older) reader.fail("hidden_activation", "what hidden_act says");
  return newer;
}

Config read(const JsonReader& reader) {
  auto config = read_gemma_like(reader, {.n_ctx = 8192, .n_kv_heads = 16});
  config.mlp.activation = read_activation(reader);
  config.position = read_whole_rotary(reader, config);
  return config;
}

}  // namespace

Family gemma_family() { return {"gemma", "GemmaForCausalLM", read, bind_llama_like}; }

}  // namespace qkv
