#include <fmt/format.h>

#include <string>
#include <vector>

#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// GPT-Neo as Hugging Face publishes it: learned positions, scores that are not scaled at all, and layers that see all
/// keys in turn with layers that see a window of them.
namespace qkv {
namespace {

using Kinds = std::vector<std::string>;

Kinds read_kinds(const JsonReader& reader, std::string_view key, const nlohmann::json& list) {
  Kinds kinds;
  for (const auto& kind : list) {
    if (kind != "global" && kind != "local") reader.fail(key, "\"global\" or \"local\" for each layer");
    kinds.push_back(kind.get<std::string>());
  }
  return kinds;
}

/// [[["global", "local"], 12]]: each list so many times.
Kinds read_repeated_kinds(const JsonReader& reader) {
  constexpr std::string_view key = "attention_types";
  Kinds kinds;
  for (const auto& part : reader.raw(key)) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_array() || !part[1].is_number_integer() ||
        part[1].get<std::int64_t>() < 0 || part[1].get<std::int64_t>() > layer_range.max)
      reader.fail(key, fmt::format("an array of pairs, kinds of layers and how often they are repeated, at most {}",
                                   layer_range.max));
    const auto repeated = read_kinds(reader, key, part[0]);
    const auto times = part[1].get<std::int64_t>();
    for (std::int64_t i = 0; i < times && kinds.size() <= static_cast<std::size_t>(layer_range.max); ++i)
      kinds.insert(kinds.end(), repeated.begin(), repeated.end());
  }
  return kinds;
}

/// Both spellings say the same; the first, older files lack.
std::vector<std::int64_t> read_windows(const JsonReader& reader, std::int64_t n_layers) {
  const auto window = reader.integer_or("window_size", 256, context_range);
  const bool listed = reader.has("attention_layers");
  const std::string_view key = listed ? "attention_layers" : "attention_types";
  const auto kinds = listed ? read_kinds(reader, key, reader.raw("attention_layers")) : read_repeated_kinds(reader);
  if (static_cast<std::int64_t>(kinds.size()) != n_layers) reader.fail(key, "a kind for each layer");
  if (listed && reader.has("attention_types") && read_repeated_kinds(reader) != kinds)
    reader.fail("attention_types", "the kinds of attention_layers");
  std::vector<std::int64_t> windows;
  for (const auto& kind : kinds) windows.push_back(kind == "local" ? window : 0);
  return windows;
}

Config read(const JsonReader& reader) {
  auto config = read_sizes(
      reader, {name_used(reader, {"num_layers", "num_hidden_layers"}), "hidden_size", "max_position_embeddings", 2048});
  config.position.kind = PositionConfig::Kind::learned;
  config.norm = read_layer_norm(reader, "layer_norm_epsilon");
  config.attention =
      read_heads(reader, {name_used(reader, {"num_heads", "num_attention_heads"}), "hidden_size"}, config.d_model);
  config.attention.scale = 1.0;
  config.attention.windows = read_windows(reader, config.n_layers);
  set_biases(config.attention, false, true);
  config.mlp = {false, read_published_activation(reader, "activation_function", "gelu_new"),
                reader.integer_or("intermediate_size", 4 * config.d_model, width_range), true, true};
  config.head.tied = reader.boolean_or("tie_word_embeddings", true);
  return config;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = gpt2_names();
  names.block.q = "attn.attention.q_proj";
  names.block.k = "attn.attention.k_proj";
  names.block.v = "attn.attention.v_proj";
  names.block.o = "attn.attention.out_proj";
  names.block.unused = {"attn.attention.bias", "attn.attention.masked_bias"};
  return bind_by_names(config, binder, names);
}

}  // namespace

Family gpt_neo_family() { return {"gpt_neo", "GPTNeoForCausalLM", read, bind}; }

}  // namespace qkv
