#include "qkv/model/families/families.hpp"
#include "qkv/model/families/published_keys.hpp"
#include "qkv/model/families/published_names.hpp"

/// GPT-J and CodeGen as Hugging Face publishes them: pairs of the first `rotary_dim` numbers of a head are turned, and
/// attention and MLP read the same stream through one norm. CodeGen has W_q W_v W_k in one matrix, in four groups,
/// since it was trained on four machines at once.
namespace qkv {
namespace {

constexpr std::int64_t fused_groups = 4;

Config read(const JsonReader& reader) {
  auto config = read_sizes(reader, {"n_layer", "n_embd", "n_positions", 2048});
  config.norm = read_layer_norm(reader, "layer_norm_epsilon");
  config.attention = read_heads(reader, {"n_head", "n_embd"}, config.d_model);
  config.position.kind = PositionConfig::Kind::rotary;
  config.position.rotary.n_rotated = reader.integer_or("rotary_dim", 64, width_range);
  config.position.rotary.layout = ops::RotaryLayout::pairs;
  config.residual = Residual::parallel_one_norm;
  config.mlp = {false, read_published_activation(reader, "activation_function", "gelu_new"),
                reader.integer_or("n_inner", 4 * config.d_model, width_range), true, true};
  config.head = {reader.boolean_or("tie_word_embeddings", false), true};
  require(reader, "rotary", true);
  require(reader, "scale_attn_weights", true);
  ignore_keys(reader, {"n_ctx", "window_size", "attention_layers", "attention_types"});  // left over from an ancestor
  return config;
}

Config read_codegen(const JsonReader& reader) {
  auto config = read(reader);
  if (config.attention.n_heads % fused_groups != 0)
    reader.fail("n_head", "a multiple of the 4 groups that W_q, W_k and W_v lie in");
  return config;
}

ModelNames common_names() {
  auto names = gpt2_names();
  names.block.o = "attn.out_proj";
  names.block.in = "mlp.fc_in";
  names.block.out = "mlp.fc_out";
  return names;
}

Weights bind(const Config& config, WeightBinder& binder) {
  auto names = common_names();
  names.block.q = "attn.q_proj";
  names.block.k = "attn.k_proj";
  names.block.v = "attn.v_proj";
  return bind_by_names(config, binder, names);
}

Weights bind_codegen(const Config& config, WeightBinder& binder) {
  auto names = common_names();
  names.block.qkv = "attn.qkv_proj";
  names.block.fused = {fused_groups, true};
  names.block.unused.emplace_back("attn.causal_mask");
  return bind_by_names(config, binder, names);
}

}  // namespace

Family gptj_family() { return {"gptj", "GPTJForCausalLM", read, bind}; }
Family codegen_family() { return {"codegen", "CodeGenForCausalLM", read_codegen, bind_codegen}; }

}  // namespace qkv
