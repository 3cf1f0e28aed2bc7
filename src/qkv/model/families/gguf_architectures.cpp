#include "qkv/model/families/gguf_architectures.hpp"

#include <array>

namespace qkv {
namespace {

using Rotary = GgufArchitecture::Rotary;

/// Metadata keys, and what Hugging Face calls them in most of its configs.
const std::vector<GgufName> common_keys{{"context_length", "max_position_embeddings"},
                                        {"embedding_length", "hidden_size"},
                                        {"block_count", "num_hidden_layers"},
                                        {"feed_forward_length", "intermediate_size"},
                                        {"attention.head_count", "num_attention_heads"},
                                        {"attention.head_count_kv", "num_key_value_heads"},
                                        {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
                                        {"attention.key_length", "head_dim"},
                                        {"rope.freq_base", "rope_theta"}};

const std::vector<GgufName> common_tensors{
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};

const std::vector<GgufName> common_in_block{
    {"attn_norm", "input_layernorm"}, {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},   {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_up", "mlp.up_proj"},        {"ffn_gate", "mlp.gate_proj"},       {"ffn_down", "mlp.down_proj"}};

GgufArchitecture llama() {
  return {"llama",
          R"({"model_type": "llama", "hidden_act": "silu"})",
          common_keys,
          "model.layers.",
          common_tensors,
          common_in_block,
          {{"attn_q.bias", "attention_bias"}, {"ffn_up.bias", "mlp_bias"}},
          Rotary::pairs};
}

GgufArchitecture gpt2() {
  return {"gpt2",
          R"({"model_type": "gpt2", "activation_function": "gelu_new"})",
          {{"context_length", "n_positions"},
           {"embedding_length", "n_embd"},
           {"block_count", "n_layer"},
           {"feed_forward_length", "n_inner"},
           {"attention.head_count", "n_head"},
           {"attention.layer_norm_epsilon", "layer_norm_epsilon"}},
          "h.",
          {{"token_embd", "wte"}, {"position_embd", "wpe"}, {"output_norm", "ln_f"}, {"output", "lm_head"}},
          {{"attn_norm", "ln_1"},
           {"attn_qkv", "attn.c_attn", true},
           {"attn_output", "attn.c_proj", true},
           {"ffn_norm", "ln_2"},
           {"ffn_up", "mlp.c_fc", true},
           {"ffn_down", "mlp.c_proj", true}}};
}

}  // namespace

std::span<const GgufArchitecture> gguf_architectures() {
  static const std::array all{llama(), gpt2()};
  return all;
}

}  // namespace qkv
