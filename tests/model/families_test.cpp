// What the families that share Llama's keys do with the keys that are their own: defaults, refusals, tensor names.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "qkv/io/weight_source.hpp"
#include "qkv/model/family.hpp"
#include "qkv/model/session.hpp"
#include "qkv/model/shapes.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Windows = std::vector<std::int64_t>;

/// The least that a config of this family says, and `more`. Null takes a key away.
json config_of(const std::string& family, const json& more = json::object()) {
  json config{{"model_type", family},      {"num_hidden_layers", 4},  {"hidden_size", 64},
              {"num_attention_heads", 64}, {"intermediate_size", 24}, {"vocab_size", 32}};
  config.update(more);
  return config;
}

Config read_whole(const json& config) {
  const JsonReader reader("here", config);
  return read_config(find_family(reader), reader);
}
Config read(const std::string& family, const json& more = json::object()) {
  return read_whole(config_of(family, more));
}

void refuse(const std::string& family, const json& more, std::vector<std::string> parts) {
  CAPTURE(family, more.dump());
  parts.emplace_back("here");
  check_refused(
      ErrorCode::model, [&] { (void)read(family, more); }, parts);
}

/// Every value of a key is refused by the key's name.
void refuse_values(const std::string& family, const std::string& key, const std::vector<json>& values) {
  for (const auto& value : values) refuse(family, {{key, value}}, {fmt::format("key '{}'", key), "expected", "found"});
}

const json two_kinds = {"full_attention", "sliding_attention", "full_attention", "sliding_attention"};

}  // namespace

TEST_CASE("keys that are absent have the family's default", "[model]") {
  struct Expected {
    std::string family;
    std::int64_t n_ctx;
    std::int64_t n_kv_heads;
    std::int64_t head_dim;
    double theta;
    float epsilon;
    bool tied;
  };
  const std::vector<Expected> all{
      {"llama", 2048, 64, 1, 1e4, 1e-6F, false},    {"mistral", 131072, 8, 1, 1e4, 1e-6F, false},
      {"qwen2", 32768, 32, 1, 1e4, 1e-6F, false},   {"qwen3", 32768, 32, 128, 1e4, 1e-6F, false},
      {"phi3", 4096, 64, 1, 1e4, 1e-5F, false},     {"gemma", 8192, 16, 256, 1e4, 1e-6F, true},
      {"gemma2", 8192, 4, 256, 1e4, 1e-6F, true},   {"gemma3_text", 131072, 4, 256, 1e6, 1e-6F, true},
      {"gemma3", 131072, 4, 256, 1e6, 1e-6F, true}, {"olmo", 2048, 64, 1, 1e4, 1e-5F, false},
      {"olmo2", 2048, 64, 1, 1e4, 1e-5F, false},    {"cohere", 8192, 64, 1, 1e4, 1e-5F, true},
      {"smollm3", 32768, 4, 1, 2e6, 1e-6F, true},   {"granite", 2048, 64, 1, 1e4, 1e-6F, false}};
  for (const auto& expected : all) {
    CAPTURE(expected.family);
    const bool odd = expected.head_dim == 1;  // then no pair can be turned
    const auto config = read(expected.family, odd ? json{{"head_dim", 2}} : json::object());
    CHECK(config.n_ctx == expected.n_ctx);
    CHECK(config.attention.n_kv_heads == expected.n_kv_heads);
    CHECK(config.attention.head_dim == (odd ? 2 : expected.head_dim));
    CHECK(config.position.rotary.theta == expected.theta);
    CHECK(config.norm.epsilon == expected.epsilon);
    CHECK(config.head.tied == expected.tied);
    const auto as_heads = read(expected.family, {{"head_dim", 2}, {"num_key_value_heads", nullptr}});
    CHECK(as_heads.attention.n_kv_heads == 64);
  }
}

TEST_CASE("windows are where each family has them", "[model]") {
  const auto windows = [](const std::string& family, json more = json::object()) {
    more["head_dim"] = 2;
    return read(family, more).attention.windows;
  };
  CHECK(windows("llama").empty());
  CHECK(windows("mistral") == Windows(4, 4096));
  CHECK(windows("mistral", {{"sliding_window", nullptr}}).empty());
  CHECK(windows("phi3").empty());
  CHECK(windows("phi3", {{"sliding_window", 5}}) == Windows(4, 5));
  for (const std::string family : {"qwen2", "qwen3"}) {
    CHECK(windows(family, {{"sliding_window", 5}, {"max_window_layers", 0}}).empty());
    CHECK(windows(family, {{"sliding_window", 5}, {"use_sliding_window", true}}).empty());  // from layer 28 on
    CHECK(windows(family, {{"use_sliding_window", true}, {"max_window_layers", 3}}) == Windows{0, 0, 0, 4096});
    CHECK(windows(family, {{"sliding_window", 5}, {"use_sliding_window", true}, {"layer_types", two_kinds}}) ==
          Windows{0, 5, 0, 5});
    CHECK(
        windows(family, {{"use_sliding_window", true}, {"sliding_window", nullptr}, {"max_window_layers", 0}}).empty());
  }
  CHECK(windows("gemma2") == Windows{4096, 0, 4096, 0});
  CHECK(windows("gemma2", {{"layer_types", two_kinds}, {"sliding_window", 7}}) == Windows{0, 7, 0, 7});
  CHECK(windows("gemma3_text") == Windows(4, 4096));  // the sixth layer would have none
  CHECK(windows("gemma3_text", {{"sliding_window_pattern", 3}, {"sliding_window", 7}}) == Windows{7, 7, 0, 7});
  CHECK(windows("gemma3_text", {{"_sliding_window_pattern", 2}, {"sliding_window", 7}}) == Windows{7, 0, 7, 0});
  CHECK(windows("smollm3", {{"sliding_window", 5}}).empty());
  CHECK(windows("smollm3", {{"sliding_window", 5}, {"use_sliding_window", true}}) == Windows{0, 0, 0, 5});
}

TEST_CASE("positions may differ from layer to layer", "[model]") {
  using Layers = std::vector<int>;
  const auto gemma = read("gemma3_text", {{"layer_types", two_kinds}}).position;
  CHECK(gemma.rotary_of_layer == Layers{0, 1, 0, 1});
  REQUIRE(gemma.second_rotary);
  CHECK(gemma.second_rotary->theta == 1e4);
  const json newer{{"full_attention", {{"rope_theta", 500.0}, {"rope_type", "linear"}, {"factor", 8.0}}},
                   {"sliding_attention", {{"rope_type", "default"}}}};
  const auto parameters = read("gemma3_text", {{"rope_parameters", newer}, {"rope_local_base_freq", 300.0}}).position;
  CHECK(parameters.rotary.theta == 500.0);
  CHECK(parameters.rotary.scaling.factor == 8.0);
  CHECK(parameters.second_rotary->theta == 300.0);
  CHECK(parameters.second_rotary->scaling.kind == RotaryScaling::Kind::none);
  const auto smollm = [](json more) {
    more["head_dim"] = 2;
    return read("smollm3", more).position.rotary_of_layer;
  };
  CHECK(smollm({}) == Layers{0, 0, 0, -1});
  CHECK(smollm({{"no_rope_layer_interval", 2}}) == Layers{0, -1, 0, -1});
  CHECK(smollm({{"no_rope_layers", {0, 1, 1, 0, 1, 1}}}) == Layers{-1, 0, 0, -1});
}

TEST_CASE("what a family says about scores, logits and activations is read", "[model]") {
  const auto gemma2 = read("gemma2");
  CHECK(gemma2.attention.scale == 1.0 / 16.0);
  CHECK(gemma2.attention.soft_cap == 50.0);
  CHECK(gemma2.head.soft_cap == 30.0);
  const auto without = read("gemma2", {{"attn_logit_softcapping", nullptr}, {"final_logit_softcapping", nullptr}});
  CHECK(without.attention.soft_cap == 0.0);
  CHECK(without.head.soft_cap == 0.0);
  CHECK(read("gemma3_text").attention.soft_cap == 0.0);
  CHECK(read("gemma").embedding_scale == 8.0);
  CHECK(read("gemma").mlp.activation == ops::Activation::gelu_tanh);
  CHECK(read("gemma", {{"hidden_act", "gelu"}}).mlp.activation == ops::Activation::gelu_tanh);
  CHECK(read("gemma", {{"hidden_act", "silu"}}).mlp.activation == ops::Activation::silu);
  CHECK(read("gemma2", {{"hidden_act", "silu"}}).mlp.activation == ops::Activation::gelu_tanh);
  CHECK(read("gemma2", {{"hidden_activation", "gelu"}}).mlp.activation == ops::Activation::gelu_erf);
  CHECK(read("cohere", {{"head_dim", 2}}).logit_scale == 0.0625);
}

TEST_CASE("windows and layer types that make no sense are refused", "[model]") {
  for (const std::string family : {"mistral", "qwen2", "qwen3", "phi3", "gemma2", "gemma3_text", "smollm3"})
    refuse_values(family, "sliding_window", {0, -4, 2.5, "8", true, json::array({8})});
  for (const std::string family : {"qwen2", "qwen3", "gemma2", "gemma3_text", "smollm3"}) {
    refuse_values(family, "layer_types",
                  {"full_attention", json::array({"full_attention"}), json::object(), 4, json::array({1, 2, 3, 4})});
    refuse(family, {{"layer_types", {"full_attention", "full_attention", "full_attention", "chunked_attention"}}},
           {"key 'layer_types'", "\"full_attention\" and \"sliding_attention\""});
    refuse(family, {{"layer_types", two_kinds}, {"sliding_window", nullptr}}, {"key 'sliding_window'", "layers see"});
  }
  for (const std::string family : {"qwen2", "qwen3", "smollm3"}) {
    refuse_values(family, "use_sliding_window", {1, "yes"});
    refuse(family, {{"layer_types", two_kinds}, {"sliding_window", 8}}, {"key 'sliding_window'", "found 8"});
  }
  refuse_values("gemma2", "sliding_window_size", {4095, 0, "4096"});
  CHECK_NOTHROW(read("gemma2", {{"sliding_window_size", 8}, {"sliding_window", 8}}));
  refuse_values("qwen2", "max_window_layers", {-1, 1.5, "all"});
  refuse_values("gemma3_text", "sliding_window_pattern", {0, -1, "six"});
  refuse("mistral", {{"head_dim", 2}, {"layer_types", two_kinds}}, {"key 'layer_types'", "not understood for"});
}

TEST_CASE("switches of arithmetic that a family does not have are refused", "[model]") {
  refuse_values("llama", "rope_interleaved", {true, 0});
  refuse_values("mistral", "attention_bias", {true});
  refuse_values("qwen2", "use_mrope", {true});
  for (const auto* key : {"attention_bias", "mlp_bias", "lm_head_bias"}) refuse_values("phi3", key, {true, 1});
  for (const auto* key : {"full_attn_mod", "interpolate_factor"}) refuse_values("phi3", key, {2, 0});
  for (const std::string family : {"gemma", "gemma2", "gemma3_text"})
    refuse_values(family, "use_bidirectional_attention", {true, "no"});
  for (const auto* key : {"vision_config", "text_config"})
    refuse("gemma3", {{key, json::object()}}, {key, "only reads text"});
}

TEST_CASE("numbers of these families that make no sense are refused", "[model]") {
  const std::vector<json> bad{0, -1, "1", true};
  for (const std::string family : {"gemma2", "gemma3_text"})
    for (const auto* key : {"query_pre_attn_scalar", "attn_logit_softcapping", "final_logit_softcapping"})
      refuse_values(family, key, bad);
  refuse_values("gemma3_text", "rope_local_base_freq", bad);
  refuse_values("olmo", "clip_qkv", bad);
  refuse_values("cohere", "logit_scale", {"1", 1e300});
  refuse_values("cohere", "use_qk_norm", {1});
  refuse_values("cohere", "layer_norm_eps", {-1, 2});
  refuse_values("smollm3", "no_rope_layer_interval", bad);
  refuse_values("smollm3", "no_rope_layers", {json::array({1, 1, 1}), json::array({1, 1, 1, 2}), "1111", 1});
  refuse_values("gemma", "hidden_activation", {"quick", 1});
  refuse("gemma", {{"hidden_act", "gelu"}, {"hidden_activation", "silu"}},
         {"key 'hidden_activation'", "hidden_act says"});
  refuse_values("gemma2", "hidden_activation", {"quick", 1});
}

TEST_CASE("rotary positions that a family does not have are refused", "[model]") {
  const json heads{{"num_attention_heads", 4}, {"num_key_value_heads", 4}};
  const auto with = [&](const std::string& key, const json& value) {
    auto more = heads;
    more[key] = value;
    return more;
  };
  for (const auto* key : {"rope_scaling", "rope_parameters"})
    for (const auto* type : {"yarn", "linear", "llama3", "dynamic"})
      refuse("phi3", with(key, {{"rope_type", type}, {"factor", 2.0}}), {"rope_type", "default, longrope, su", type});
  const auto factors = [](std::size_t count) {
    const std::vector<double> all(count, 1.0);
    return json{{"type", "su"}, {"short_factor", all}, {"long_factor", all}};
  };
  CHECK_NOTHROW(read("phi3", with("rope_scaling", factors(8))));
  refuse("phi3", with("rope_scaling", factors(7)), {"each of 8 pairs", "found 7"});
  for (const double part : {-0.5, 1.5})
    refuse("phi3", with("partial_rotary_factor", part), {"'partial_rotary_factor'"});
  refuse("phi3", with("partial_rotary_factor", 0.0), {"even number", "found 0"});
  refuse("phi3", with("partial_rotary_factor", 0.35), {"even number", "found 5"});
  auto contrary = with("rope_parameters", {{"partial_rotary_factor", 1.0}});
  contrary["partial_rotary_factor"] = 0.5;
  refuse("phi3", contrary, {"key 'partial_rotary_factor'", "8 of the 16 numbers", "found 1"});
  refuse("qwen2", with("rope_parameters", {{"partial_rotary_factor", 0.5}}), {"key 'partial_rotary_factor'"});
  CHECK_NOTHROW(read("qwen2", with("rope_parameters", {{"partial_rotary_factor", 1.0}})));

  refuse("gemma3_text", {{"rope_parameters", {{"full_attention", json::object()}}}}, {"'sliding_attention'"});
  refuse("gemma3_text", {{"rope_parameters", {{"rope_theta", 5.0}}}}, {"'full_attention'"});
  const json types{{"full_attention", json::object()}, {"sliding_attention", json::object()}, {"other", 1}};
  refuse("gemma3_text", {{"rope_parameters", types}}, {"key 'other'"});
}

TEST_CASE("tensors are found under every name that publishers gave them", "[model]") {
  const auto logits_of = [](const TinyModel& tiny) {
    const TemporaryDirectory directory;
    write_hugging_face(tiny, directory.path());
    const auto model = Model::load(directory.path());
    Session session(model, 1);
    return copied(session.forward(std::vector<TokenId>{3, 1, 4, 1, 5}, Rows::all));
  };
  const auto expected = logits_of(tiny_llama());
  for (const std::string root : {"", "model.language_model.", "language_model.model."}) {
    CAPTURE(root);
    auto tiny = tiny_llama();
    for (auto& tensor : tiny.tensors) {
      if (tensor.name.rfind("model.", 0) == 0)
        tensor.name = root + tensor.name.substr(6);
      else if (root == "language_model.model.")
        tensor.name = "language_model." + tensor.name;
    }
    for (const auto* buffer : {"rotary_emb.inv_freq", "layers.0.self_attn.rotary_emb.inv_freq"})
      tiny.tensors.push_back(random_tensor(root + buffer, {1}, 1));
    CHECK(logits_of(tiny) == expected);
  }
  auto tied = tiny_llama();
  tied.config["tie_word_embeddings"] = true;
  check_refused(ErrorCode::model, [&] { (void)logits_of(tied); }, {"lm_head.weight", "ties the head"});
  tied.tensor("lm_head.weight").bytes = tied.tensor("model.embed_tokens.weight").bytes;
  CHECK_NOTHROW(logits_of(tied));
}

TEST_CASE("named shapes have as many parameters as their publishers say", "[model]") {
  const auto count = [](std::string_view name) {
    for (const auto& shape : named_shapes())
      if (shape.name == name) return read_whole(json::parse(shape.config)).parameter_count();
    return std::int64_t{0};
  };
  CHECK(count("qwen2.5-0.5b") == 494032768);
  CHECK(count("qwen3-0.6b") == 596049920);
  CHECK(count("gemma3-270m") == 268098176);
}

TEST_CASE("parameters are counted as the files of every family hold them", "[model]") {
  for (const auto& entry : fs::directory_iterator(fs::path(QKV_TEST_DATA) / "models")) {
    CAPTURE(entry.path().filename().string());
    const auto model = Model::load(entry.path());
    const auto opened = open_weights(entry.path());
    const auto& ignored = model.ignored();
    std::int64_t stored = 0;
    for (const auto& tensor : opened.source->tensors())
      if (std::find(ignored.begin(), ignored.end(), tensor.name) == ignored.end())
        stored += element_count(tensor.shape).value();
    if (model.config().family == "opt") stored -= 2 * model.config().d_model;  // rows of positions that nothing reads
    CHECK(model.config().parameter_count() == stored);
  }
}

TEST_CASE("configs as they occur in the wild are read, or refused by the key that is not understood",
          "[model][reference]") {
  const auto reference = reference_directory();
  if (!reference) {
    WARN("skipped: no reference folder (QKV_REFERENCE)");
    return;
  }
  for (const auto& entry : fs::directory_iterator(*reference / "real" / "configs")) {
    std::string result = "read";
    try {
      const auto reader = JsonReader::open(entry.path());
      (void)read_config(find_family(reader), reader);
    } catch (const Error& error) {
      result = error.what();
      CHECK(result.find("key '") != std::string::npos);
    }
    fmt::print("{:40} {}\n", entry.path().filename().string(), result);
  }
}

}  // namespace qkv::test
