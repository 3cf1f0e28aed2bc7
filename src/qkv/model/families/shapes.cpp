#include "qkv/model/shapes.hpp"

#include <array>

/// Sizes as their publishers' config.json files give them; what is left out has the family's default.
namespace qkv {
namespace {

constexpr std::string_view gpt2 = R"({"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768,
  "n_layer": 12, "n_head": 12})";

constexpr std::string_view gpt2_medium = R"({"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024,
  "n_embd": 1024, "n_layer": 24, "n_head": 16})";

constexpr std::string_view smollm2_135m = R"({"model_type": "llama", "vocab_size": 49152,
  "max_position_embeddings": 8192, "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30,
  "num_attention_heads": 9, "num_key_value_heads": 3, "rms_norm_eps": 1e-5, "rope_theta": 100000,
  "tie_word_embeddings": true})";

constexpr std::string_view smollm2_360m = R"({"model_type": "llama", "vocab_size": 49152,
  "max_position_embeddings": 8192, "hidden_size": 960, "intermediate_size": 2560, "num_hidden_layers": 32,
  "num_attention_heads": 15, "num_key_value_heads": 5, "rms_norm_eps": 1e-5, "rope_theta": 100000,
  "tie_word_embeddings": true})";

constexpr std::string_view tinyllama = R"({"model_type": "llama", "vocab_size": 32000,
  "max_position_embeddings": 2048, "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22,
  "num_attention_heads": 32, "num_key_value_heads": 4, "rms_norm_eps": 1e-5, "rope_theta": 10000,
  "tie_word_embeddings": false})";

constexpr std::string_view qwen25_05b = R"({"model_type": "qwen2", "vocab_size": 151936,
  "max_position_embeddings": 32768, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
  "num_attention_heads": 14, "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "rope_theta": 1000000,
  "tie_word_embeddings": true})";

constexpr std::string_view qwen3_06b = R"({"model_type": "qwen3", "vocab_size": 151936,
  "max_position_embeddings": 40960, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
  "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "rms_norm_eps": 1e-6, "rope_theta": 1000000,
  "tie_word_embeddings": true})";

constexpr std::string_view gemma3_270m = R"({"model_type": "gemma3_text", "vocab_size": 262144,
  "max_position_embeddings": 32768, "hidden_size": 640, "intermediate_size": 2048, "num_hidden_layers": 18,
  "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "query_pre_attn_scalar": 256,
  "rms_norm_eps": 1e-6, "rope_theta": 1000000, "rope_local_base_freq": 10000, "sliding_window": 512})";

/// The embedded model.
constexpr std::string_view nursery = R"({"model_type": "qkv", "format_version": 1, "name": "nursery", "n_layers": 5,
  "d_model": 128, "n_vocab": 2048, "n_ctx": 256,
  "position": {"kind": "rotary", "theta": 1000.0, "n_rotated": 32, "layout": "halves", "scaling": {"kind": "none"}},
  "norm": {"kind": "layer", "epsilon": 1e-05, "bias": true},
  "attention": {"n_heads": 4, "n_kv_heads": 4, "head_dim": 32, "scale": 0.17677669529663687,
    "scale_divided_by_layer": false, "bias_q": true, "bias_k": true, "bias_v": true, "bias_o": true},
  "mlp": {"kind": "plain", "activation": "gelu_tanh", "d_ff": 512, "bias_in": true, "bias_out": true},
  "residual": "sequential", "embedding_scale": 1.0, "logit_scale": 1.0, "head": {"tied": true, "bias": false},
  "tokens": {"bos": 0, "eos": [0]}})";

}  // namespace

std::span<const NamedShape> named_shapes() {
  static constexpr std::array shapes{NamedShape{"gpt2", gpt2},
                                     NamedShape{"gpt2-medium", gpt2_medium},
                                     NamedShape{"smollm2-135m", smollm2_135m},
                                     NamedShape{"smollm2-360m", smollm2_360m},
                                     NamedShape{"tinyllama-1.1b", tinyllama},
                                     NamedShape{"qwen2.5-0.5b", qwen25_05b},
                                     NamedShape{"qwen3-0.6b", qwen3_06b},
                                     NamedShape{"gemma3-270m", gemma3_270m},
                                     NamedShape{"nursery", nursery}};
  return shapes;
}

}  // namespace qkv
