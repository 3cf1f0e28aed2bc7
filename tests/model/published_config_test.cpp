// Published configs of the families beside the first two: what their keys mean under all their names, what is taken
// where they are absent, and what is refused.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "qkv/model/family.hpp"
#include "qkv/model/model_files.hpp"
#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

/// What a config.json cannot do without, for each family.
json smallest(const std::string& family) {
  static const json gpt{{"n_layer", 2}, {"n_embd", 32}, {"n_head", 4}};
  static const json usual{{"num_hidden_layers", 2}, {"hidden_size", 32}, {"num_attention_heads", 4}};
  static const std::map<std::string, json> configs{
      {"gpt_neo",
       {{"num_layers", 2}, {"hidden_size", 32}, {"num_heads", 4}, {"attention_layers", {"global", "local"}}}},
      {"gpt_neox", {{"intermediate_size", 40}}},
      {"gptj", gpt},
      {"codegen", gpt},
      {"opt", {{"ffn_dim", 40}}},
      {"bloom", {{"n_layer", 2}, {"hidden_size", 32}, {"n_head", 4}}},
      {"mpt", {{"n_layers", 2}, {"d_model", 32}, {"n_heads", 4}}},
      {"falcon", json::object()},
      {"gpt_bigcode", gpt},
      {"starcoder2", {{"intermediate_size", 40}}},
      {"phi", {{"intermediate_size", 40}}},
      {"stablelm", {{"intermediate_size", 40}}},
      {"granite", {{"intermediate_size", 40}}}};
  auto config = configs.at(family);
  if (family != "gpt_neo" && family != "bloom" && family != "mpt" && !config.contains("n_embd")) config.update(usual);
  if (family == "gptj" || family == "codegen") config["rotary_dim"] = 4;
  config["model_type"] = family;
  config["vocab_size"] = 50;
  return config;
}

const std::vector<std::string> all_families{"gpt_neo", "gpt_neox", "gptj",   "codegen",     "opt",
                                            "bloom",   "mpt",      "falcon", "gpt_bigcode", "starcoder2",
                                            "phi",     "stablelm", "granite"};

json with(const std::string& family, const json& changes) {
  auto config = smallest(family);
  config.update(changes);
  return config;
}

Config parsed(const json& config) {
  const JsonReader reader("config.json", config);
  return read_config(find_family(reader), reader);
}

void check_same(const json& one, const json& other) {
  CAPTURE(one.dump(), other.dump());
  const auto a = describe(parsed(one));
  const auto b = describe(parsed(other));
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].value == b[i].value);
}

void refuse(const std::string& family, const json& changes, std::vector<std::string> parts) {
  CAPTURE(family, changes.dump());
  parts.emplace_back("config.json");
  check_refused(
      ErrorCode::model, [&] { (void)parsed(with(family, changes)); }, parts);
}

}  // namespace

TEST_CASE("absent keys have the default of their family", "[model]") {
  for (const auto& family : all_families) CHECK_NOTHROW(parsed(smallest(family)));
  const auto neox = parsed(smallest("gpt_neox"));
  CHECK(neox.position.rotary.n_rotated == 2);
  CHECK(neox.residual == Residual::parallel);
  CHECK(neox.attention.bias_q);
  CHECK_FALSE(neox.head.tied);
  const auto opt = parsed(smallest("opt"));
  CHECK((opt.norm_places.before && opt.final_norm && opt.head.tied && opt.mlp.bias_in));
  CHECK(opt.mlp.activation == ops::Activation::relu);
  CHECK(opt.embedding_width == 0);
  const auto falcon = parsed(smallest("falcon"));
  CHECK(falcon.attention.n_kv_heads == 1);
  CHECK(falcon.residual == Residual::parallel_one_norm);
  CHECK(falcon.position.kind == PositionConfig::Kind::rotary);
  CHECK_FALSE(falcon.mlp.bias_in);
  CHECK(parsed(smallest("gpt_bigcode")).attention.n_kv_heads == 1);
  CHECK(parsed(smallest("starcoder2")).attention.n_kv_heads == 2);
  CHECK(parsed(smallest("phi")).position.rotary.n_rotated == 4);
  CHECK(parsed(smallest("stablelm")).position.rotary.n_rotated == 2);
  CHECK(parsed(smallest("gpt_neo")).attention.scale == 1.0);
  CHECK(parsed(smallest("gpt_neo")).attention.windows == std::vector<std::int64_t>{0, 256});
  const auto mpt = parsed(smallest("mpt"));
  CHECK(mpt.position.kind == PositionConfig::Kind::alibi);
  CHECK((!mpt.norm.bias && !mpt.attention.bias_q && mpt.mlp.d_ff == 128));
  for (const auto* family : {"gptj", "codegen", "phi"}) CHECK(parsed(smallest(family)).head.bias);
  const auto granite = parsed(smallest("granite"));
  CHECK((granite.embedding_scale == 1.0 && granite.residual_scale == 1.0 && granite.logit_scale == 1.0));
  CHECK(granite.attention.scale == 1.0);  // not 1 / sqrt(head_dim)
  CHECK((!granite.attention.bias_q && !granite.mlp.bias_in));
}

TEST_CASE("older and newer spellings of a config mean the same", "[model]") {
  check_same(with("gpt_neox", {{"rotary_pct", 0.5}, {"rotary_emb_base", 500}}),
             with("gpt_neox", {{"rope_parameters",
                                {{"rope_type", "default"}, {"rope_theta", 500}, {"partial_rotary_factor", 0.5}}}}));
  check_same(with("gpt_neox", {{"rotary_pct", 0.5}, {"rotary_emb_base", 500}}),
             with("gpt_neox", {{"rotary_pct", 0.5},
                               {"partial_rotary_factor", 0.5},
                               {"rotary_emb_base", 500},
                               {"rope_theta", 500},
                               {"rope_scaling", nullptr}}));
  for (const auto* family : {"phi", "stablelm"})
    check_same(with(family, {{"partial_rotary_factor", 0.75}, {"rope_theta", 300}}),
               with(family, {{"rope_parameters", {{"rope_theta", 300}, {"partial_rotary_factor", 0.75}}}}));
  for (const auto* family : {"falcon", "starcoder2", "granite"})
    check_same(with(family, {{"rope_theta", 300}, {"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}}),
               with(family, {{"rope_parameters", {{"rope_theta", 300}, {"rope_type", "linear"}, {"factor", 2.0}}}}));
  const json kinds{"global", "local"};
  auto repeated = with("gpt_neo", {{"attention_types", {{kinds, 1}}}});
  check_same(smallest("gpt_neo"), repeated);
  repeated.erase("attention_layers");
  check_same(smallest("gpt_neo"), repeated);
  auto old_bloom = with("bloom", {{"n_embed", 32}, {"num_attention_heads", 4}});
  check_same(smallest("bloom"), old_bloom);
  for (const auto* key : {"hidden_size", "n_head"}) old_bloom.erase(key);
  check_same(smallest("bloom"), old_bloom);
  for (const auto* family : {"gpt_neo", "gptj", "codegen", "gpt_bigcode"})
    check_same(smallest(family), with(family, {{"n_inner", nullptr}, {"intermediate_size", nullptr}}));
  for (const auto& family : all_families)
    check_same(with(family, {{"dtype", "float16"}}), with(family, {{"torch_dtype", "float16"}}));
}

TEST_CASE("switches of families choose what they say", "[model]") {
  const auto grouped = parsed(with("falcon", {{"new_decoder_architecture", true}, {"num_kv_heads", 2}}));
  CHECK(grouped.attention.n_kv_heads == 2);
  CHECK(grouped.residual == Residual::parallel);
  const json one_norm{{"new_decoder_architecture", true}, {"num_kv_heads", 2}, {"num_ln_in_parallel_attn", 1}};
  CHECK(parsed(with("falcon", one_norm)).residual == Residual::parallel_one_norm);
  const auto rw = parsed(with("falcon", {{"alibi", true}, {"multi_query", false}, {"parallel_attn", false}}));
  CHECK((rw.position.kind == PositionConfig::Kind::alibi && rw.position.alibi.rounded && rw.position.alibi.scaled));
  CHECK((rw.residual == Residual::sequential && rw.attention.n_kv_heads == 4));
  const auto stablelm = parsed(with("stablelm", {{"qk_layernorm", true}, {"use_qkv_bias", true}}));
  CHECK((stablelm.attention.qk_norm.kind == QkNormConfig::Kind::own_head && !stablelm.attention.qk_norm.norm.bias));
  CHECK((stablelm.attention.bias_q && !stablelm.attention.bias_o));
  const auto post = parsed(with("opt", {{"do_layer_norm_before", false}, {"word_embed_proj_dim", 20}}));
  CHECK((post.norm_places.stream && !post.norm_places.before && !post.final_norm && post.embedding_width == 20));
  CHECK_FALSE(parsed(with("opt", {{"_remove_final_layer_norm", true}})).final_norm);
  CHECK(parsed(with("bloom", {{"apply_residual_connection_post_layernorm", true}})).norm_places.keeps);
  CHECK(parsed(with("starcoder2", {{"sliding_window", 7}})).attention.windows == std::vector<std::int64_t>{7, 7});
  const auto wide =
      parsed(with("phi", {{"head_dim", 12}, {"is_encoder_decoder", false}, {"add_cross_attention", false}}));
  CHECK((wide.attention.q_width() == 48 && wide.position.rotary.n_rotated == 6));
  const auto mpt =
      parsed(with("mpt", {{"attn_config", {{"alibi", false}, {"clip_qkv", 6.0}, {"softmax_scale", 0.5}}}}));
  CHECK((mpt.position.kind == PositionConfig::Kind::learned && mpt.attention.clip == 6.0));
  CHECK(mpt.attention.scale == 0.5);
  const auto granite = parsed(with("granite", {{"embedding_multiplier", 12},
                                               {"attention_multiplier", 0.015625},
                                               {"residual_multiplier", 0.22},
                                               {"logits_scaling", 8},
                                               {"attention_bias", true},
                                               {"mlp_bias", true}}));
  CHECK((granite.embedding_scale == 12.0 && granite.attention.scale == 0.015625));
  CHECK((granite.residual_scale == 0.22 && granite.logit_scale == 0.125));
  CHECK((granite.attention.bias_q && granite.attention.bias_o && granite.mlp.bias_in && granite.mlp.bias_out));
}

TEST_CASE("a value that changes the arithmetic in ways not known is refused by key", "[model]") {
  refuse("gpt_neo", {{"attention_layers", {"global", "sparse"}}},
         {"key 'attention_layers'", "\"global\" or \"local\""});
  refuse("gpt_neo", {{"attention_layers", {"global"}}}, {"key 'attention_layers'", "a kind for each layer"});
  refuse("gpt_neo", {{"attention_types", {{{"local"}, 2}}}},
         {"key 'attention_types'", "the kinds of attention_layers"});
  refuse("gpt_neo", {{"attention_types", 3}}, {"key 'attention_types'", "found 3"});
  refuse("gpt_neo", {{"attention_types", {{{"local"}, -1}}}}, {"key 'attention_types'", "how often"});
  refuse("gpt_neo", {{"attention_layers", nullptr}, {"attention_types", {{json::array(), std::int64_t{1} << 62}}}},
         {"key 'attention_types'", "at most 4096"});  // nothing, so often that it would never end
  refuse("gpt_neox", {{"rotary_pct", 0.25}, {"partial_rotary_factor", 0.5}},
         {"'partial_rotary_factor'", "'rotary_pct'"});
  refuse("gpt_neox", {{"rotary_pct", 1.5}}, {"key 'rotary_pct'", "from 0 to 1"});
  refuse("gpt_neox", {{"rotary_pct", 0.0}}, {"rotated numbers", "found 0"});
  refuse("gpt_neox", {{"rope_parameters", {{"rope_type", "linear"}, {"factor", 2.0}, {"mrope_section", {1}}}}},
         {"rope_parameters", "key 'mrope_section'", "no such key"});
  refuse("gptj", {{"rotary", false}}, {"key 'rotary'", "true"});
  refuse("gptj", {{"rotary_dim", 10}}, {"head_dim 8", "found 10"});
  refuse("gptj", {{"scale_attn_weights", false}}, {"key 'scale_attn_weights'"});
  refuse("codegen", {{"n_head", 2}}, {"key 'n_head'", "4 groups"});
  refuse("opt", {{"learned_embeddings", false}}, {"key 'learned_embeddings'", "true"});
  refuse("opt", {{"scale_embeddings", true}}, {"key 'scale_embeddings'", "false"});
  refuse("opt", {{"activation_function", "mish"}}, {"key 'activation_function'", "relu"});
  refuse("opt", {{"word_embed_proj_dim", 0}}, {"key 'word_embed_proj_dim'"});
  refuse("bloom", {{"n_inner", 64}}, {"key 'n_inner'", "found 64"});
  refuse("bloom", {{"n_embed", 64}}, {"key 'n_embed'", "'hidden_size'", "32", "found 64"});
  refuse("falcon", {{"new_decoder_architecture", true}, {"parallel_attn", false}}, {"key 'parallel_attn'"});
  refuse("falcon", {{"num_ln_in_parallel_attn", 2}}, {"key 'num_ln_in_parallel_attn'"});
  refuse("falcon", {{"num_ln_in_parallel_attn", 3}}, {"key 'num_ln_in_parallel_attn'", "from 1 to 2"});
  refuse("falcon", {{"multi_query", false}, {"num_kv_heads", 2}}, {"key 'num_kv_heads'", "found 2"});
  refuse("falcon", {{"new_decoder_architecture", true}, {"num_kv_heads", 3}}, {"4 heads for 3 key/value heads"});
  refuse("falcon", {{"apply_residual_connection_post_layernorm", true}},
         {"'apply_residual_connection_post_layernorm'"});
  refuse("gpt_bigcode", {{"scale_attn_by_inverse_layer_idx", true}}, {"key 'scale_attn_by_inverse_layer_idx'"});
  refuse("gpt_bigcode", {{"add_cross_attention", true}}, {"key 'add_cross_attention'"});
  refuse("starcoder2", {{"mlp_type", "gated"}}, {"key 'mlp_type'", "\"default\""});
  refuse("starcoder2", {{"norm_type", "rms_norm"}}, {"key 'norm_type'", "\"layer_norm\""});
  refuse("starcoder2", {{"sliding_window", -1}}, {"key 'sliding_window'"});
  refuse("starcoder2", {{"norm_epsilon", 1e-5}, {"layer_norm_epsilon", 1e-6}}, {"key 'layer_norm_epsilon'"});
  refuse("phi", {{"qk_layernorm", "yes"}}, {"key 'qk_layernorm'", "true or false"});
  refuse("stablelm", {{"sliding_window", 8}}, {"key 'sliding_window'", "--ignore-key"});
  for (const auto* key : {"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"})
    for (const json& value : {json(0), json(-1.0), json(1e300), json("1"), json(true)})
      refuse("granite", {{key, value}}, {"key '" + std::string(key) + "'", "a number from"});
  refuse("granite", {{"num_local_experts", 8}}, {"key 'num_local_experts'", "--ignore-key"});
}

TEST_CASE("what programs take differently in one config is refused by key", "[model]") {
  const auto refuse_attn = [](const json& attn_config, std::vector<std::string> parts) {
    parts.emplace_back("attn_config");
    refuse("mpt", {{"attn_config", attn_config}}, parts);
  };
  refuse_attn({{"prefix_lm", true}}, {"key 'prefix_lm'", "false"});
  refuse_attn({{"attn_uses_sequence_id", true}}, {"key 'attn_uses_sequence_id'"});
  refuse_attn({{"attn_impl", "xformers"}}, {"key 'attn_impl'", "torch, flash, triton"});
  refuse_attn({{"attn_type", "sparse"}}, {"key 'attn_type'", "multiquery_attention"});
  refuse_attn({{"kv_n_heads", 2}}, {"key 'kv_n_heads'", "found 2"});
  refuse_attn({{"alibi_bias_max", 16}}, {"key 'alibi_bias_max'", "found 16"});
  refuse_attn({{"softmax_scale", 0}}, {"key 'softmax_scale'"});
  refuse_attn({{"rope", true}}, {"key 'rope'"});
  refuse_attn({{"sliding_window_size", 5}}, {"key 'sliding_window_size'"});
  refuse_attn({{"attn_logit_softcapping", 5}}, {"key 'attn_logit_softcapping'", "no such key"});
  refuse("mpt", {{"learned_pos_emb", false}, {"attn_config", {{"alibi", false}}}}, {"key 'alibi'"});
  refuse("mpt", {{"logit_scale", "inv_sqrt_d_model"}}, {"key 'logit_scale'", "null"});
  refuse("mpt", {{"norm_type", "rmsnorm"}}, {"key 'norm_type'", "layernorm"});
  refuse("mpt", {{"ffn_config", {{"ffn_type", "mptglu"}}}}, {"key 'ffn_type'", "mptmlp"});
  refuse("mpt", {{"expansion_ratio", 0.001}}, {"key 'expansion_ratio'"});
}

TEST_CASE("counts and widths must be sensible integers under their names in every family", "[model]") {
  for (const auto& family : all_families) {
    const auto config = smallest(family);
    for (const auto& [key, value] : config.items()) {
      if (!value.is_number()) continue;
      for (const json& wrong : {json(0), json(-1), json(2.5), json("8"), json(true), json(std::int64_t{1} << 40)})
        refuse(family, {{key, wrong}}, {"key '" + key + "'", "expected an integer from 1 to", "found"});
    }
  }
}

TEST_CASE("no family asks for a tensor twice, and all that it asks for is counted", "[model]") {
  for (const auto& family : all_families) {
    CAPTURE(family);
    const auto outline = outline_model(JsonReader("config.json", smallest(family)));
    std::int64_t numbers = 0;
    for (const auto& tensor : outline.asked) numbers += element_count(tensor.shape).value();
    const auto unused_positions = family == "opt" ? std::int64_t{2} * 32 : 0;
    CHECK(numbers == outline.config.parameter_count() + unused_positions);
  }
}

TEST_CASE("published configs are read, or refused for what they are", "[model][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  const auto folder = *reference / "real" / "configs";
  for (const auto* name : {"TinyStories-1M", "bloom-3b", "gpt-j-6B", "gpt-neo-125m", "opt-125m", "opt-13b-erebus",
                           "pythia-410m-finetune", "pythia-6.9b-deduped"}) {
    INFO(name);
    const auto reader = JsonReader::open(folder / (name + std::string(".json")));
    CHECK(outline_model(reader).asked.size() > 10);
  }
  for (const auto* name : {"phi-1_5-legacy-mixformer", "phi-2-legacy-mixformer"}) {
    const auto reader = JsonReader::open(folder / (name + std::string(".json")));
    check_refused(ErrorCode::model, [&] { (void)outline_model(reader); }, {"key 'model_type'", "mixformer-sequential"});
  }
}

}  // namespace qkv::test
