#include "qkv/model/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "qkv/core/error.hpp"
#include "qkv/model/families/families.hpp"

namespace qkv {
namespace {

/// Keys that published configs carry and that change nothing in a forward pass: training, bookkeeping, and how other
/// programs generate.
constexpr std::array harmless_keys{"activation_dropout",
                                   "architectures",
                                   "attention_dropout",
                                   "attention_probs_dropout_prob",
                                   "attn_implementation",
                                   "attn_pdrop",
                                   "auto_map",
                                   "bad_words_ids",
                                   "begin_suppress_tokens",
                                   "chunk_size_feed_forward",
                                   "classifier_dropout",
                                   "cross_attention_hidden_size",
                                   "decoder_start_token_id",
                                   "diversity_penalty",
                                   "do_sample",
                                   "dropout",
                                   "dtype",
                                   "early_stopping",
                                   "emb_pdrop",
                                   "embd_pdrop",
                                   "embed_dropout",
                                   "embedding_dropout",
                                   "encoder_no_repeat_ngram_size",
                                   "exponential_decay_length_penalty",
                                   "finetuning_task",
                                   "forced_bos_token_id",
                                   "forced_eos_token_id",
                                   "gradient_checkpointing",
                                   "hidden_dropout",
                                   "hidden_dropout_prob",
                                   "id2label",
                                   "ignore_index",
                                   "init_std",
                                   "initializer_range",
                                   "is_decoder",
                                   "label2id",
                                   "layerdrop",
                                   "length_penalty",
                                   "max_length",
                                   "min_length",
                                   "mlp_dropout",
                                   "model_type",
                                   "name_or_path",
                                   "no_repeat_ngram_size",
                                   "num_beam_groups",
                                   "num_beams",
                                   "num_labels",
                                   "num_return_sequences",
                                   "output_attentions",
                                   "output_hidden_states",
                                   "output_past",
                                   "output_router_logits",
                                   "output_scores",
                                   "pad_token_id",
                                   "prefix",
                                   "problem_type",
                                   "remove_invalid_values",
                                   "repetition_penalty",
                                   "resid_dropout",
                                   "resid_pdrop",
                                   "residual_dropout",
                                   "return_dict",
                                   "return_dict_in_generate",
                                   "sep_token_id",
                                   "summary_activation",
                                   "summary_first_dropout",
                                   "summary_proj_to_labels",
                                   "summary_type",
                                   "summary_use_proj",
                                   "suppress_tokens",
                                   "task_specific_params",
                                   "temperature",
                                   "tf_legacy_loss",
                                   "tokenizer_class",
                                   "top_k",
                                   "top_p",
                                   "torch_dtype",
                                   "torchscript",
                                   "transformers_version",
                                   "typical_p",
                                   "unk_token_id",
                                   "unsloth_fixed",
                                   "unsloth_version",
                                   "use_bfloat16",
                                   "use_cache",
                                   "use_return_dict"};

/// Keys that are harmless at one value only.
bool is_neutral(const std::string& key, const nlohmann::json& value) {
  if (key == "pruned_heads") return value.empty();
  const bool is_of_encoders =
      key == "add_cross_attention" || key == "is_encoder_decoder" || key == "tie_encoder_decoder";
  return is_of_encoders && value == false;
}

bool is_harmless(const std::string& key) {
  // Their publishers' own notes begin with an underscore ("_name_or_path", "_num_labels").
  return key.front() == '_' ||
         std::find(harmless_keys.begin(), harmless_keys.end(), std::string_view(key)) != harmless_keys.end();
}

void refuse_unread(const Family& family, const JsonReader& reader, std::span<const std::string> ignored_keys) {
  for (const auto& key : reader.unread()) {
    if (!reader.has(key)) continue;  // null
    if (is_neutral(key, reader.raw(key))) continue;
    if (key.empty() ||
        (!is_harmless(key) && std::find(ignored_keys.begin(), ignored_keys.end(), key) == ignored_keys.end()))
      throw Error(
          ErrorCode::model,
          fmt::format("{}: key '{}' is not understood for model_type {}; where it does not change the arithmetic, "
                      "--ignore-key {} lets it through",
                      reader.where(), key, family.name, key));
  }
}

}  // namespace

std::span<const Family> families() {
  static const std::array all{native_family(),  gpt2_family(),     llama_family(),       bloom_family(),
                              codegen_family(), cohere_family(),   falcon_family(),      gemma_family(),
                              gemma2_family(),  gemma3_family(),   gemma3_text_family(), gpt_bigcode_family(),
                              gpt_neo_family(), gpt_neox_family(), gptj_family(),        granite_family(),
                              mistral_family(), mpt_family(),      olmo_family(),        olmo2_family(),
                              opt_family(),     phi_family(),      phi3_family(),        qwen2_family(),
                              qwen3_family(),   smollm3_family(),  stablelm_family(),    starcoder2_family()};
  return all;
}

const Family& find_family(const JsonReader& reader) {
  std::string names;
  const auto type = reader.text_or("model_type", "");
  for (const auto& family : families()) {
    if (family.name == type) return family;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", family.name);
  }
  if (!type.empty()) reader.fail("model_type", fmt::format("one of {}", names));
  if (!reader.has("architectures")) reader.fail("model_type", fmt::format("one of {}", names));
  for (const auto& family : families())
    if (!family.architecture.empty() && reader.raw("architectures") == nlohmann::json::array({family.architecture}))
      return family;
  reader.fail("architectures", fmt::format("that of one of {}", names));
}

Config read_config(const Family& family, const JsonReader& reader, std::span<const std::string> ignored_keys) {
  auto config = family.read_config(reader);
  config.family = family.name;
  refuse_unread(family, reader, ignored_keys);
  check_config(config, reader.where());
  return config;
}

}  // namespace qkv
