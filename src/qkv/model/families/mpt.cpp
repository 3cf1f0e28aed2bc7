#include <fmt/format.h>

#include <array>

#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// MPT as MosaicML publishes it: ALiBi, no biases, W_q W_k W_v side by side in one matrix. Hugging Face's program reads
/// fewer of the config's keys than MosaicML's own. Where the tensors tell which of the two a file is for, it is read
/// so; where they do not, values that the two take differently are refused.
namespace qkv {
namespace {

constexpr NumberRange positive_range{1e-6, 1e6};

void require_one_of(const JsonReader& reader, std::string_view key, std::initializer_list<std::string_view> known) {
  if (!reader.has(key)) return;
  std::string names;
  for (const auto name : known) {
    if (reader.text(key) == name) return;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  reader.fail(key, fmt::format("one of {}", names));
}

std::int64_t read_kv_heads(const JsonReader& reader, std::int64_t n_heads) {
  require_one_of(reader, "attn_type", {"multihead_attention", "multiquery_attention", "grouped_query_attention"});
  const auto type = reader.text_or("attn_type", "multihead_attention");
  const auto usual = type == "multiquery_attention" ? 1 : n_heads;
  const auto n_kv_heads = reader.integer_or("kv_n_heads", usual, head_range);
  if (type != "grouped_query_attention" && n_kv_heads != usual)
    reader.fail("kv_n_heads", fmt::format("{}, as attn_type {} has", usual, type));
  return n_kv_heads;
}

/// `attn_config`, all of whose keys must be understood.
void read_attention(const JsonReader& reader, Config& config, bool learned, bool bias) {
  auto& a = config.attention;
  a.n_kv_heads = read_kv_heads(reader, a.n_heads);
  a.scale = reader.number_or("softmax_scale", a.scale, positive_range);
  a.clip = reader.number_or("clip_qkv", 0.0, {0.0, 1e6});
  if (reader.boolean_or("qk_ln", false)) {
    a.qk_norm.kind = QkNormConfig::Kind::whole;
    a.qk_norm.norm = config.norm;
    a.qk_norm.norm.bias = bias;
  }
  const bool alibi = reader.boolean_or("alibi", true);
  if (!alibi && !learned) reader.fail("alibi", "true where learned_pos_emb is not");
  config.position.kind = alibi ? PositionConfig::Kind::alibi : PositionConfig::Kind::learned;
  if (reader.number_or("alibi_bias_max", 8.0, positive_range) != 8.0) reader.fail("alibi_bias_max", "8");
  require_one_of(reader, "attn_impl", {"torch", "flash", "triton"});
  for (const auto* key : {"prefix_lm", "attn_uses_sequence_id", "qk_gn", "rope"}) require(reader, key, false);
  if (reader.integer_or("sliding_window_size", -1, {}) != -1) reader.fail("sliding_window_size", "-1, for none");
  ignore_keys(reader, {"attn_pdrop", "model_type", "fused_qkv", "rope_theta", "rope_impl", "rope_dail_config",
                       "rope_hf_config"});
  reader.refuse_unread();
}

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"n_layers", "d_model", "max_seq_len", 2048});
  const bool bias = !reader.boolean_or("no_bias", true);
  config.norm = read_layer_norm(reader, "layer_norm_epsilon");
  config.norm.bias = bias;
  config.attention = read_heads(reader, {"n_heads", "d_model"}, config.d_model);
  set_biases(config.attention, bias, bias);
  read_attention(reader.object_if("attn_config").value_or(JsonReader(reader.where(), nlohmann::json::object())), config,
                 reader.boolean_or("learned_pos_emb", true), bias);
  const auto ratio = reader.number_or("expansion_ratio", 4.0, {0.0, 1024.0});
  config.mlp = {false, ops::Activation::gelu_erf,
                static_cast<std::int64_t>(ratio * static_cast<double>(config.d_model)), bias, bias};
  if (config.mlp.d_ff < 1) reader.fail("expansion_ratio", "a ratio that leaves a width");
  if (const auto ffn = reader.object_if("ffn_config")) {
    require(*ffn, "ffn_type", std::string_view("mptmlp"));
    ffn->ignore("fc_type");
    ffn->refuse_unread();
  }
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  require_one_of(reader, "norm_type", {"low_precision_layernorm", "layernorm"});
  if (reader.has("logit_scale")) reader.fail("logit_scale", "null");
  (void)reader.number_or("embedding_fraction", 1.0, {0.0, 1.0});  // of the gradient; the numbers are the same
  ignore_keys(reader, {"emb_pdrop", "fc_type", "init_config", "init_device", "tokenizer_name", "use_pad_tok_in_ffn",
                       "verbose"});
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = gpt2_names();
  names.layers = "blocks";
  names.block = {.attn_norm = "norm_1",
                 .qkv = "attn.Wqkv",
                 .o = "attn.out_proj",
                 .mlp_norm = "norm_2",
                 .in = "ffn.up_proj",
                 .out = "ffn.down_proj",
                 .q_norm = "attn.q_ln",
                 .k_norm = "attn.k_ln"};
  names.final_norm = "norm_f";
  return bind_by_names(config, binder, names);
}

}  // namespace

Family mpt_family() { return {"mpt", "MptForCausalLM", read, bind}; }

}  // namespace qkv
