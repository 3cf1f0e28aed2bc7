#include "qkv/model/families/gguf_architectures.hpp"

#include <array>
#include <cmath>

#include "qkv/model/config_keys.hpp"

namespace qkv {
namespace {

using nlohmann::json;
using Names = std::vector<GgufName>;
using Rotary = GgufArchitecture::Rotary;
using Change = GgufName::Change;

Names operator+(Names names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

/// Metadata keys, and what Hugging Face calls them in most of its configs.
Names common_keys() {
  return {{"context_length", "max_position_embeddings"},
          {"embedding_length", "hidden_size"},
          {"block_count", "num_hidden_layers"},
          {"feed_forward_length", "intermediate_size"},
          {"attention.head_count", "num_attention_heads"},
          {"attention.head_count_kv", "num_key_value_heads"},
          {"attention.key_length", "head_dim"},
          {"rope.freq_base", "rope_theta"}};
}
Names rms_keys() { return common_keys() + Names{{"attention.layer_norm_rms_epsilon", "rms_norm_eps"}}; }
Names layer_norm_keys(std::string_view epsilon) {
  return common_keys() + Names{{"attention.layer_norm_epsilon", epsilon}};
}

Names common_tensors() {
  return {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
}

Names common_attention() {
  return {{"attn_q", "self_attn.q_proj"},
          {"attn_k", "self_attn.k_proj"},
          {"attn_v", "self_attn.v_proj"},
          {"attn_output", "self_attn.o_proj"}};
}
Names common_mlp() { return {{"ffn_up", "mlp.up_proj"}, {"ffn_gate", "mlp.gate_proj"}, {"ffn_down", "mlp.down_proj"}}; }
Names norms_before() { return {{"attn_norm", "input_layernorm"}, {"ffn_norm", "post_attention_layernorm"}}; }
Names norms_of_q_and_k() { return {{"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"}}; }

/// The model's width divided by the heads: the width of a head, where no key gives that.
std::int64_t share_of_head(const JsonReader& metadata, const std::string& name) {
  return metadata.integer(name + ".embedding_length", width_range) /
         metadata.integer(name + ".attention.head_count", head_range);
}

std::int64_t head_dim_of(const JsonReader& metadata, const std::string& name) {
  return metadata.integer_or(name + ".attention.key_length", share_of_head(metadata, name), width_range);
}

/// What most architectures after Llama share.
GgufArchitecture llama_like(std::string_view name, std::string_view fixed, Rotary rotary = Rotary::as_family) {
  GgufArchitecture made;
  made.name = name;
  made.fixed = fixed;
  made.keys = rms_keys();
  made.block = "model.layers.";
  made.tensors = common_tensors();
  made.in_block = norms_before() + common_attention() + common_mlp();
  made.rotary = rotary;
  return made;
}

/// Llama, and Mistral where there is a window.
GgufArchitecture llama() {
  auto made = llama_like("llama", R"({"model_type": "llama", "hidden_act": "silu"})", Rotary::pairs);
  made.keys = made.keys + Names{{"attention.sliding_window", "sliding_window"}};
  made.flags = {{"attn_q.bias", "attention_bias"}, {"ffn_up.bias", "mlp_bias"}};
  made.complete = [](const JsonReader& metadata, json& config) {
    if (metadata.has("llama.attention.sliding_window")) config["model_type"] = "mistral";
  };
  return made;
}

GgufArchitecture qwen2() { return llama_like("qwen2", R"({"model_type": "qwen2", "hidden_act": "silu"})"); }

GgufArchitecture qwen3() {
  auto made = llama_like("qwen3", R"({"model_type": "qwen3", "hidden_act": "silu"})");
  made.in_block = made.in_block + norms_of_q_and_k();
  made.flags = {{"attn_q.bias", "attention_bias"}};
  return made;
}

GgufArchitecture smollm3() {
  auto made = llama_like("smollm3", R"({"model_type": "smollm3", "hidden_act": "silu"})", Rotary::pairs);
  made.flags = {{"attn_q.bias", "attention_bias"}, {"ffn_up.bias", "mlp_bias"}};
  return made;
}

/// Two keys mean something else than elsewhere: without a scale scores are divided by the root of the width of a head,
/// and whether rotary positions were "finetuned" says whether there are any.
GgufArchitecture granite() {
  auto made = llama_like("granite", R"({"model_type": "granite", "hidden_act": "silu"})", Rotary::pairs);
  made.keys = made.keys + Names{{"embedding_scale", "embedding_multiplier"},
                                {"attention.scale", "attention_multiplier"},
                                {"residual_scale", "residual_multiplier"},
                                {"logit_scale", "logits_scaling"}};
  made.flags = {{"attn_q.bias", "attention_bias"}, {"ffn_up.bias", "mlp_bias"}};
  made.complete = [](const JsonReader& metadata, json& config) {
    if (!metadata.boolean_or("granite.rope.scaling.finetuned", true))
      metadata.fail("granite.rope.scaling.finetuned", "true");
    if (!metadata.has("granite.attention.scale"))
      config["attention_multiplier"] = 1.0 / std::sqrt(static_cast<double>(head_dim_of(metadata, "granite")));
  };
  return made;
}

/// W_q W_k W_v in one matrix, W_gate W_in in another, in the same order as in the family's files.
GgufArchitecture phi3() {
  auto made = llama_like("phi3", R"({"model_type": "phi3", "hidden_act": "silu"})");
  made.keys = made.keys + Names{{"attention.sliding_window", "sliding_window"}};
  made.in_block = norms_before() + Names{{"attn_qkv", "self_attn.qkv_proj"},
                                         {"attn_output", "self_attn.o_proj"},
                                         {"ffn_up", "mlp.gate_up_proj"},
                                         {"ffn_down", "mlp.down_proj"}};
  made.turned_share = "partial_rotary_factor";
  return made;
}

/// The 1 that Gemma's norms add to what is stored is in GGUF's numbers already.
void take_gains_as_they_are(Config& config) {
  config.norm.gain_offset = 0.0F;
  config.attention.qk_norm.norm.gain_offset = 0.0F;
}

GgufArchitecture gemma() {
  auto made = llama_like("gemma", R"({"model_type": "gemma", "hidden_activation": "gelu_pytorch_tanh"})");
  made.flags = {{"attn_q.bias", "attention_bias"}};
  made.adjust = take_gains_as_they_are;
  return made;
}

/// No key gives what scores are divided by the root of: the width of a head, but in the largest model of each version,
/// which is known by its number of layers, the model's width divided by the heads.
void add_score_scale(const JsonReader& metadata, json& config, const std::string& name,
                     std::int64_t layers_of_largest) {
  const bool largest = metadata.integer(name + ".block_count", layer_range) == layers_of_largest;
  config["query_pre_attn_scalar"] = largest ? share_of_head(metadata, name) : head_dim_of(metadata, name);
}

GgufArchitecture gemma2_like(std::string_view name, std::string_view fixed) {
  auto made = llama_like(name, fixed);
  made.keys = made.keys + Names{{"attention.sliding_window", "sliding_window"},
                                {"attn_logit_softcapping", "attn_logit_softcapping"},
                                {"final_logit_softcapping", "final_logit_softcapping"}};
  made.in_block = common_attention() + common_mlp() +
                  Names{{"attn_norm", "input_layernorm"},
                        {"post_attention_norm", "post_attention_layernorm"},
                        {"ffn_norm", "pre_feedforward_layernorm"},
                        {"post_ffw_norm", "post_feedforward_layernorm"}};
  made.flags = {{"attn_q.bias", "attention_bias"}};
  made.adjust = take_gains_as_they_are;
  return made;
}

GgufArchitecture gemma2() {
  auto made = gemma2_like("gemma2", R"({"model_type": "gemma2", "hidden_activation": "gelu_pytorch_tanh"})");
  made.complete = [](const JsonReader& metadata, json& config) { add_score_scale(metadata, config, "gemma2", 46); };
  return made;
}

GgufArchitecture gemma3() {
  auto made = gemma2_like("gemma3", R"({"model_type": "gemma3_text", "hidden_activation": "gelu_pytorch_tanh"})");
  made.keys = made.keys + Names{{"attention.sliding_window_pattern", "sliding_window_pattern"},
                                {"rope.freq_base_swa", "rope_local_base_freq"}};
  made.in_block = made.in_block + norms_of_q_and_k();
  made.complete = [](const JsonReader& metadata, json& config) { add_score_scale(metadata, config, "gemma3", 62); };
  return made;
}

GgufArchitecture olmo() {
  auto made = llama_like("olmo", R"({"model_type": "olmo", "hidden_act": "silu"})", Rotary::pairs);
  made.keys = common_keys() + Names{{"attention.clamp_kqv", "clip_qkv"}};
  made.flags = {{"attn_q.bias", "attention_bias"}};
  made.complete = [](const JsonReader& metadata, json&) {  // the family knows one only, and has no key for it
    (void)metadata.number_or("olmo.attention.layer_norm_epsilon", 1e-5, {0.99e-5, 1.01e-5});
  };
  return made;
}

GgufArchitecture olmo2() {
  auto made = llama_like("olmo2", R"({"model_type": "olmo2", "hidden_act": "silu"})");
  made.flags = {{"attn_q.bias", "attention_bias"}};
  made.in_block =
      common_attention() + common_mlp() + norms_of_q_and_k() +
      Names{{"post_attention_norm", "post_attention_layernorm"}, {"post_ffw_norm", "post_feedforward_layernorm"}};
  return made;
}

GgufArchitecture command_r() {
  auto made = llama_like("command-r", R"({"model_type": "cohere", "hidden_act": "silu"})");
  made.keys = layer_norm_keys("layer_norm_eps") + Names{{"logit_scale", "logit_scale"}};
  made.in_block = made.in_block + norms_of_q_and_k();
  made.flags = {{"attn_q_norm.weight", "use_qk_norm"}, {"attn_q.bias", "attention_bias"}};
  return made;
}

GgufArchitecture stablelm() {
  auto made = llama_like("stablelm", R"({"model_type": "stablelm", "hidden_act": "silu"})");
  made.keys = layer_norm_keys("layer_norm_eps") + Names{{"use_parallel_residual", "use_parallel_residual"}};
  made.flags = {{"attn_q.bias", "use_qkv_bias"}};
  made.turned_share = "partial_rotary_factor";
  return made;
}

GgufArchitecture starcoder2() {
  auto made = llama_like("starcoder2", R"({"model_type": "starcoder2", "hidden_act": "gelu_pytorch_tanh",
                                           "use_bias": false})");
  made.keys = layer_norm_keys("norm_epsilon") + Names{{"attention.sliding_window", "sliding_window"}};
  made.in_block = norms_before() + common_attention() + Names{{"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}};
  made.flags = {{"attn_q.bias", "use_bias"}};
  return made;
}

GgufArchitecture phi2() {
  auto made = llama_like("phi2", R"({"model_type": "phi", "hidden_act": "gelu_new"})");
  made.keys = layer_norm_keys("layer_norm_eps");
  made.tensors = {
      {"token_embd", "model.embed_tokens"}, {"output_norm", "model.final_layernorm"}, {"output", "lm_head"}};
  made.in_block = common_attention() + Names{{"attn_norm", "input_layernorm"},
                                             {"attn_output", "self_attn.dense"},
                                             {"ffn_up", "mlp.fc1"},
                                             {"ffn_down", "mlp.fc2"}};
  made.turned_share = "partial_rotary_factor";
  return made;
}

/// The names that BLOOM, Falcon and GPT-NeoX share.
Names dense_in_block(const std::string_view& qkv, const std::string_view& o) {
  return {{"attn_norm", "input_layernorm"},
          {"attn_qkv", qkv, Change::ungrouped},
          {"attn_output", o},
          {"ffn_norm", "post_attention_layernorm"},
          {"ffn_up", "mlp.dense_h_to_4h"},
          {"ffn_down", "mlp.dense_4h_to_h"}};
}

GgufArchitecture gpt_neox() {
  auto made = llama_like("gptneox", R"({"model_type": "gpt_neox", "hidden_act": "gelu", "attention_bias": false})");
  made.flags = {{"attn_qkv.bias", "attention_bias"}};
  made.keys = {{"context_length", "max_position_embeddings"},
               {"embedding_length", "hidden_size"},
               {"block_count", "num_hidden_layers"},
               {"feed_forward_length", "intermediate_size"},
               {"attention.head_count", "num_attention_heads"},
               {"attention.layer_norm_epsilon", "layer_norm_eps"},
               {"rope.freq_base", "rope_theta"},
               {"use_parallel_residual", "use_parallel_residual"}};
  made.block = "gpt_neox.layers.";
  made.tensors = {
      {"token_embd", "gpt_neox.embed_in"}, {"output_norm", "gpt_neox.final_layer_norm"}, {"output", "embed_out"}};
  made.in_block = dense_in_block("attention.query_key_value", "attention.dense");
  made.turned_share = "partial_rotary_factor";
  return made;
}

GgufArchitecture bloom() {
  GgufArchitecture made;
  made.name = "bloom";
  made.fixed = R"({"model_type": "bloom"})";
  made.keys = {{"context_length", "seq_length"},   {"embedding_length", "hidden_size"},
               {"block_count", "n_layer"},         {"feed_forward_length", "n_inner"},
               {"attention.head_count", "n_head"}, {"attention.layer_norm_epsilon", "layer_norm_epsilon"}};
  made.block = "h.";
  made.tensors = {{"token_embd", "word_embeddings"},
                  {"token_embd_norm", "word_embeddings_layernorm"},
                  {"output_norm", "ln_f"},
                  {"output", "lm_head"}};
  made.in_block = dense_in_block("self_attention.query_key_value", "self_attention.dense");
  return made;
}

/// The older form has one norm in a block, the newer one two, and GGUF's first is the MLP's then.
GgufArchitecture falcon() {
  auto made = llama_like("falcon", R"({"model_type": "falcon", "activation": "gelu"})");
  made.keys = {{"context_length", "max_position_embeddings"},
               {"embedding_length", "hidden_size"},
               {"block_count", "num_hidden_layers"},
               {"feed_forward_length", "ffn_hidden_size"},
               {"attention.head_count", "num_attention_heads"},
               {"attention.head_count_kv", "num_kv_heads"},
               {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
               {"rope.freq_base", "rope_theta"}};
  made.block = "h.";
  made.tensors = {{"token_embd", "word_embeddings"}, {"output_norm", "ln_f"}, {"output", "lm_head"}};
  made.in_block = dense_in_block("self_attention.query_key_value", "self_attention.dense") +
                  Names{{"attn_norm", "ln_mlp"}, {"attn_norm_2", "ln_attn"}};
  made.flags = {{"attn_norm_2.weight", "new_decoder_architecture"}, {"attn_qkv.bias", "bias"}};
  made.complete = [](const JsonReader& metadata, json& config) {
    const auto n_heads = metadata.integer("falcon.attention.head_count", head_range);
    const auto n_kv_heads = metadata.integer_or("falcon.attention.head_count_kv", 1, head_range);
    const bool two_norms = config.contains("new_decoder_architecture");
    if (two_norms || (n_kv_heads != 1 && n_kv_heads != n_heads)) {
      config["new_decoder_architecture"] = true;
      config["num_ln_in_parallel_attn"] = two_norms ? 2 : 1;
    } else {
      config["multi_query"] = n_kv_heads == 1;
    }
  };
  return made;
}

GgufArchitecture mpt() {
  GgufArchitecture made;
  made.name = "mpt";
  made.fixed = R"({"model_type": "mpt", "no_bias": true})";
  made.keys = {{"context_length", "max_seq_len"},
               {"embedding_length", "d_model"},
               {"block_count", "n_layers"},
               {"attention.head_count", "n_heads"},
               {"attention.layer_norm_epsilon", "layer_norm_epsilon"}};
  made.block = "transformer.blocks.";
  made.tensors = {{"token_embd", "transformer.wte"}, {"output_norm", "transformer.norm_f"}, {"output", "lm_head"}};
  made.in_block = {{"attn_norm", "norm_1"}, {"attn_qkv", "attn.Wqkv"}, {"attn_output", "attn.out_proj"},
                   {"ffn_norm", "norm_2"},  {"ffn_up", "ffn.up_proj"}, {"ffn_down", "ffn.down_proj"}};
  made.complete = [](const JsonReader& metadata, json& config) {
    const auto d_model = metadata.integer("mpt.embedding_length", width_range);
    const auto d_ff = metadata.integer_or("mpt.feed_forward_length", 4 * d_model, width_range);
    if (d_ff % d_model != 0) metadata.fail("mpt.feed_forward_length", "a multiple of the width");
    config["expansion_ratio"] = d_ff / d_model;
    const auto steepest = metadata.number_or("mpt.attention.max_alibi_bias", 0.0, {0.0, 1e6});
    const auto clip = metadata.number_or("mpt.attention.clamp_kqv", 0.0, {0.0, 1e6});
    auto& attention = config["attn_config"] = {{"alibi", steepest > 0.0}};
    if (steepest > 0.0) attention["alibi_bias_max"] = steepest;
    if (clip > 0.0) attention["clip_qkv"] = clip;
    const auto n_heads = metadata.integer("mpt.attention.head_count", head_range);
    const auto n_kv_heads = metadata.integer_or("mpt.attention.head_count_kv", n_heads, head_range);
    if (n_kv_heads == n_heads) return;
    attention["attn_type"] = "grouped_query_attention";
    attention["kv_n_heads"] = n_kv_heads;
  };
  return made;
}

GgufArchitecture gpt2() {
  GgufArchitecture made;
  made.name = "gpt2";
  made.fixed = R"({"model_type": "gpt2", "activation_function": "gelu_new"})";
  made.keys = {{"context_length", "n_positions"},  {"embedding_length", "n_embd"},
               {"block_count", "n_layer"},         {"feed_forward_length", "n_inner"},
               {"attention.head_count", "n_head"}, {"attention.layer_norm_epsilon", "layer_norm_epsilon"}};
  made.block = "h.";
  made.tensors = {{"token_embd", "wte"}, {"position_embd", "wpe"}, {"output_norm", "ln_f"}, {"output", "lm_head"}};
  made.in_block = {{"attn_norm", "ln_1"},
                   {"attn_qkv", "attn.c_attn", Change::transposed},
                   {"attn_output", "attn.c_proj", Change::transposed},
                   {"ffn_norm", "ln_2"},
                   {"ffn_up", "mlp.c_fc", Change::transposed},
                   {"ffn_down", "mlp.c_proj", Change::transposed}};
  return made;
}

/// GPT-2 with one head of keys and values where the file says so, and its matrices not turned.
GgufArchitecture starcoder() {
  auto made = gpt2();
  made.name = "starcoder";
  made.fixed = R"({"model_type": "gpt_bigcode", "activation_function": "gelu_pytorch_tanh"})";
  made.block = "transformer.h.";
  made.tensors = {{"token_embd", "transformer.wte"},
                  {"position_embd", "transformer.wpe"},
                  {"output_norm", "transformer.ln_f"},
                  {"output", "lm_head"}};
  for (auto& name : made.in_block) name.change = Change::none;
  made.complete = [](const JsonReader& metadata, json& config) {
    const auto n_heads = metadata.integer("starcoder.attention.head_count", head_range);
    const auto n_kv_heads = metadata.integer_or("starcoder.attention.head_count_kv", n_heads, head_range);
    if (n_kv_heads != 1 && n_kv_heads != n_heads)
      metadata.fail("starcoder.attention.head_count_kv", "1, or as many as heads");
    config["multi_query"] = n_kv_heads == 1;
  };
  return made;
}

}  // namespace

std::span<const GgufArchitecture> gguf_architectures() {
  static const std::array all{llama(),    granite(),  gpt2(),   qwen2(),  qwen3(), smollm3(),   phi2(),
                              phi3(),     gemma(),    gemma2(), gemma3(), olmo(),  olmo2(),     command_r(),
                              stablelm(), gpt_neox(), bloom(),  falcon(), mpt(),   starcoder(), starcoder2()};
  return all;
}

}  // namespace qkv
