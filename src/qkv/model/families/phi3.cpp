#include "qkv/model/families/families.hpp"
#include "qkv/model/families/llama_like.hpp"

/// Phi-3, 3.5 and 4: W_q W_k W_v and W_gate W_in are fused, a part of each head may be turned only, and long texts may
/// turn by other angles than short ones.
namespace qkv {
namespace {

/// Only LongRoPE, which was first called "su". "yarn" has meant two different things here.
void check_scaling(const JsonReader& reader) {
  for (const auto& part : {reader.object_if("rope_parameters"), reader.object_if("rope_scaling")}) {
    if (!part) continue;
    for (const auto* key : {"rope_type", "type"}) {
      const auto type = part->text_or(key, "default");
      if (type != "default" && type != "longrope" && type != "su") part->fail(key, "one of default, longrope, su");
    }
  }
}

Config read(const JsonReader& reader) {
  auto config = read_llama_like(reader, {.n_ctx = 4096, .epsilon = 1e-5});
  const auto head_dim = config.attention.head_dim;
  check_scaling(reader);
  config.position = read_rotary(reader, read_rotated_count(reader, head_dim), config.n_ctx,
                                {.original_n_ctx = 4096, .head_dim = head_dim});
  if (const auto window = read_window(reader, 0); window > 0)
    config.attention.windows.assign(static_cast<std::size_t>(config.n_layers), window);
  for (const auto* key : {"attention_bias", "mlp_bias", "lm_head_bias"}) require_false(reader, key);
  // Written by Phi-4-mini's publisher for code that has them: every layer attends to everything, and positions are not
  // divided.
  for (const auto* key : {"full_attn_mod", "interpolate_factor"})
    if (reader.integer_or(key, 1, {}) != 1) reader.fail(key, "1");
  return config;
}

}  // namespace

Family phi3_family() { return {"phi3", "Phi3ForCausalLM", read, bind_llama_fused}; }

}  // namespace qkv
