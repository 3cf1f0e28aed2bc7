// Configs that cannot be used: one case for each way to be wrong, each refused by file and key.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "qkv/model/model.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using Writer = void (*)(const TinyModel&, const fs::path&);
using Damage = std::function<void(json& config)>;

void check_config_refused(TinyModel model, Writer write, const Damage& damage, std::vector<std::string> parts) {
  damage(model.config);
  const TemporaryDirectory directory;
  write(model, directory.path());
  parts.push_back((directory.path() / "config.json").string());
  check_refused(
      ErrorCode::model, [&] { (void)Model::load(directory.path()); }, parts);
}

/// Sets the value at a path like "/attention/n_heads", or takes it away (`value` discarded).
Damage set(const std::string& path, const json& value) {
  return [=](json& config) { config[json::json_pointer(path)] = value; };
}
Damage take_away(const std::string& path) {
  return [=](json& config) {
    const json::json_pointer pointer(path);
    config[pointer.parent_pointer()].erase(pointer.back());
  };
}

void native_refused(const Damage& damage, const std::vector<std::string>& parts) {
  check_config_refused(tiny_native(), write_native, damage, parts);
}
void gpt2_refused(const Damage& damage, const std::vector<std::string>& parts) {
  check_config_refused(tiny_gpt2(), write_hugging_face, damage, parts);
}
void llama_refused(const Damage& damage, const std::vector<std::string>& parts) {
  check_config_refused(tiny_llama(), write_hugging_face, damage, parts);
}

std::string last_key(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void load(const TinyModel& model, Writer write, const std::vector<std::string>& ignored_keys = {}) {
  const TemporaryDirectory directory;
  write(model, directory.path());
  LoadOptions options;
  options.ignored_keys = ignored_keys;
  (void)Model::load(directory.path(), options);
}

}  // namespace

TEST_CASE("the tiny models are good ones before they are damaged", "[model]") {
  CHECK_NOTHROW(load(tiny_native(), write_native));
  CHECK_NOTHROW(load(tiny_native(), write_hugging_face));
  CHECK_NOTHROW(load(tiny_gpt2(), write_hugging_face));
  CHECK_NOTHROW(load(tiny_llama(), write_hugging_face));
}

TEST_CASE("counts and widths must be sensible integers in every family", "[model]") {
  const auto refuse_each = [](auto refused, const std::vector<std::string>& paths) {
    for (const auto& path : paths) {
      const auto key = "key '" + last_key(path) + "'";
      CAPTURE(path);
      for (const json& value : {json(0), json(-1), json(2.5), json("8"), json(true), json::array({8}),
                                json(std::int64_t{1} << 40), json(18446744073709551615U)})
        refused(set(path, value), {key, "expected an integer from 1 to", "found"});
    }
  };
  refuse_each(native_refused, {"/n_layers", "/d_model", "/n_vocab", "/n_ctx", "/attention/n_heads",
                               "/attention/n_kv_heads", "/attention/head_dim", "/mlp/d_ff"});
  refuse_each(gpt2_refused, {"/n_layer", "/n_embd", "/n_head", "/n_positions", "/n_inner", "/vocab_size"});
  refuse_each(llama_refused, {"/num_hidden_layers", "/hidden_size", "/num_attention_heads", "/num_key_value_heads",
                              "/head_dim", "/max_position_embeddings", "/intermediate_size", "/vocab_size"});
}

TEST_CASE("the native form has no defaults: whatever is missing or null is asked for", "[model]") {
  for (const auto* path : {"/format_version",
                           "/n_layers",
                           "/d_model",
                           "/n_vocab",
                           "/n_ctx",
                           "/position",
                           "/position/kind",
                           "/norm",
                           "/norm/kind",
                           "/norm/epsilon",
                           "/norm/bias",
                           "/attention",
                           "/attention/n_heads",
                           "/attention/n_kv_heads",
                           "/attention/head_dim",
                           "/attention/scale",
                           "/attention/scale_divided_by_layer",
                           "/attention/bias_q",
                           "/attention/bias_k",
                           "/attention/bias_v",
                           "/attention/bias_o",
                           "/mlp",
                           "/mlp/kind",
                           "/mlp/activation",
                           "/mlp/d_ff",
                           "/mlp/bias_in",
                           "/mlp/bias_out",
                           "/residual",
                           "/embedding_scale",
                           "/logit_scale",
                           "/head",
                           "/head/tied",
                           "/head/bias",
                           "/tokens"}) {
    CAPTURE(path);
    const auto key = "key '" + last_key(path) + "'";
    native_refused(take_away(path), {key, "expected", "found nothing"});
    native_refused(set(path, nullptr), {key, "expected", "found nothing"});
    native_refused(set(path, json::array()), {key, "expected", "found the array"});
  }
}

TEST_CASE("keys that a published config must have are asked for", "[model]") {
  for (const auto* key : {"n_layer", "n_embd", "n_head", "n_positions", "vocab_size"}) {
    gpt2_refused(take_away(std::string("/") + key), {key, "found nothing"});
    gpt2_refused(set(std::string("/") + key, nullptr), {key, "found nothing"});
  }
  for (const auto* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size", "intermediate_size"})
    llama_refused(take_away(std::string("/") + key), {key, "found nothing"});
}

TEST_CASE("names that nobody knows are refused with those that are known", "[model]") {
  native_refused(set("/position/kind", "sinusoidal"), {"key 'kind'", "\"rotary\"", "found \"sinusoidal\""});
  native_refused(set("/norm/kind", "batch"), {"key 'kind'", "\"layer\", \"rms\"", "found \"batch\""});
  native_refused(set("/mlp/kind", "Gated"), {"key 'kind'", "\"plain\" or \"gated\"", "found \"Gated\""});
  native_refused(set("/mlp/activation", "gelu"), {"key 'activation'", "\"gelu_tanh\"", "found \"gelu\""});
  native_refused(set("/residual", "both"), {"key 'residual'", "\"sequential\"", "\"both\""});
  native_refused(set("/format_version", 2), {"key 'format_version'", "found 2"});
  gpt2_refused(set("/activation_function", "mish"), {"key 'activation_function'", "gelu_new", "found \"mish\""});
  gpt2_refused(set("/activation_function", 3), {"key 'activation_function'", "found 3"});
  llama_refused(set("/hidden_act", "GELU"), {"key 'hidden_act'", "silu", "found \"GELU\""});
}

TEST_CASE("numbers that make no sense are refused", "[model]") {
  for (const json& value : {json(-1e-5), json(2.0), json("1e-5"), json(true)}) {
    native_refused(set("/norm/epsilon", value), {"key 'epsilon'", "a number from 0 to 1"});
    gpt2_refused(set("/layer_norm_epsilon", value), {"key 'layer_norm_epsilon'", "a number from 0 to 1"});
    llama_refused(set("/rms_norm_eps", value), {"key 'rms_norm_eps'", "a number from 0 to 1"});
  }
  for (const json& value : {json(0.0), json(-10000.0), json(1e300), json("10000")})
    llama_refused(set("/rope_theta", value), {"key 'rope_theta'", "a number from 1"});
  native_refused(set("/attention/scale", "none"), {"key 'scale'", "a number", "\"none\""});
  native_refused(set("/logit_scale", 1e300), {"key 'logit_scale'", "found 1e+300"});
  native_refused(set("/head/tied", 1), {"key 'tied'", "true or false", "found 1"});
  gpt2_refused(set("/scale_attn_weights", "no"), {"key 'scale_attn_weights'", "true or false"});
  gpt2_refused(set("/add_cross_attention", true), {"key 'add_cross_attention'", "false", "found true"});
}

TEST_CASE("heads that do not divide are refused", "[model]") {
  gpt2_refused(set("/n_head", 3), {"key 'n_embd'", "multiple of the 3 heads", "found 8"});
  gpt2_refused(set("/n_head", 16), {"key 'n_embd'", "multiple of the 16 heads"});
  llama_refused(set("/num_attention_heads", 3), {"key 'hidden_size'", "multiple of the 3 heads", "found 8"});
  llama_refused(set("/num_key_value_heads", 3), {"4 heads for 3 key/value heads"});
  llama_refused(set("/num_key_value_heads", 8), {"4 heads for 8 key/value heads"});
  native_refused(set("/attention/n_kv_heads", 2), {"3 heads for 2 key/value heads"});
  llama_refused(set("/head_dim", 3), {"even number", "head_dim 3", "found 3"});
}

TEST_CASE("rope scaling that is not understood is refused", "[model]") {
  const auto refuse = [](const json& scaling, const std::vector<std::string>& parts) {
    llama_refused(set("/rope_scaling", scaling), parts);
    llama_refused(set("/rope_parameters", scaling), parts);
  };
  refuse({{"rope_type", "mrope"}, {"factor", 2.0}}, {"key 'rope_type'", "llama3, longrope, yarn", "found \"mrope\""});
  refuse({{"type", "dynamic"}}, {"key 'factor'", "found nothing"});
  refuse({{"rope_type", "longrope"}, {"short_factor", {1.0}}}, {"key 'long_factor'", "found nothing"});
  for (const json& factor : {json(0.0), json(1e-308), json(1e7), json(-1.0), json("1"), json(nullptr)}) {
    const std::string expected = "an array of numbers from 0.001 to 1000000";  // or the angles become infinite, or NaN
    refuse({{"rope_type", "longrope"}, {"short_factor", {1.0}}, {"long_factor", {factor}}},
           {"key 'long_factor'", expected});
    refuse({{"rope_type", "longrope"}, {"short_factor", {1.0, factor}}, {"long_factor", {1.0}}},
           {"key 'short_factor'", expected});
  }
  for (const auto share : {-0.5, 1.5, 1e300})
    refuse({{"rope_type", "default"}, {"partial_rotary_factor", share}},
           {"key 'partial_rotary_factor'", "a number from 0 to 1"});
  refuse({{"rope_type", "yarn"}, {"factor", 2.0}, {"finetuned", true}}, {"key 'finetuned'", "no such key"});
  refuse({{"rope_type", "linear"}}, {"key 'factor'", "found nothing"});
  refuse({{"rope_type", "linear"}, {"factor", 0}}, {"key 'factor'", "found 0"});
  refuse({{"rope_type", "linear"}, {"factor", 2.0}, {"beta_fast", 32}}, {"key 'beta_fast'", "no such key"});
  refuse({{"rope_type", "llama3"}, {"factor", 8.0}, {"low_freq_factor", 4.0}, {"high_freq_factor", 1.0}},
         {"key 'high_freq_factor'", "more than low_freq_factor 4", "found 1"});
  llama_refused(set("/rope_scaling", "linear"), {"key 'rope_scaling'", "an object"});
}

TEST_CASE("a key that nobody understands is refused until it is ignored by name", "[model]") {
  gpt2_refused(set("/sliding_window", 4), {"key 'sliding_window'", "gpt2", "--ignore-key sliding_window"});
  llama_refused(set("/partial_rotary_factor", 0.5), {"key 'partial_rotary_factor'", "--ignore-key"});
  native_refused(set("/attention/window", 4), {"attention", "key 'window'", "found 4"});
  native_refused(set("/soft_cap", 4), {"key 'soft_cap'"});
  native_refused(set("/", 4), {"key ''"});
  auto model = tiny_gpt2();
  model.config["sliding_window"] = 4;
  CHECK_NOTHROW(load(model, write_hugging_face, {"other", "sliding_window"}));
  model.config["more"] = 4;
  CHECK_THROWS_AS(load(model, write_hugging_face, {"sliding_window"}), Error);
}

TEST_CASE("keys known to be harmless, and those set to null, are let through", "[model]") {
  auto model = tiny_llama();
  model.config["torch_dtype"] = "float32";
  model.config["_name_or_path"] = "x";
  model.config["use_cache"] = true;
  model.config["rope_scaling"] = nullptr;
  model.config["head_dim"] = nullptr;
  CHECK_NOTHROW(load(model, write_hugging_face));
}

TEST_CASE("the family is told by model_type, else by the architecture", "[model]") {
  gpt2_refused(set("/model_type", "mamba"), {"key 'model_type'", "qkv, gpt2, llama", "found \"mamba\""});
  gpt2_refused(set("/model_type", 2), {"key 'model_type'", "a string", "found 2"});
  gpt2_refused(take_away("/model_type"), {"key 'model_type'", "qkv, gpt2, llama", "found nothing"});
  const auto by_architecture = [](const json& architectures) {
    auto model = tiny_gpt2();
    model.config.erase("model_type");
    model.config["architectures"] = architectures;
    return model;
  };
  CHECK_NOTHROW(load(by_architecture({"GPT2LMHeadModel"}), write_hugging_face));
  for (const json& wrong : {json::array({"MambaForCausalLM"}), json::array(), json("GPT2LMHeadModel")}) {
    const auto config = by_architecture(wrong).config;
    gpt2_refused([&](json& c) { c = config; }, {"key 'architectures'", "found"});
  }
}

TEST_CASE("token ids of the config must be tokens", "[model]") {
  native_refused(set("/tokens/bos", 17), {"key 'bos'", "from 0 to 16", "found 17"});
  native_refused(set("/tokens/eos", json::array({3, -1})), {"key 'eos'", "from 0 to 16", "found -1"});
  gpt2_refused(set("/eos_token_id", "end"), {"key 'eos_token_id'", "an integer", "\"end\""});
}

}  // namespace qkv::test
