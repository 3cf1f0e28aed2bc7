#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "qkv/model/config.hpp"
#include "qkv/model/config_keys.hpp"
#include "qkv/model/weight_binder.hpp"

/// Llama and the families that came after it write the same keys and call their tensors the same; each family's file
/// says what it does differently. As Llama has it: RMS norms before each half of a block, groups of heads that share
/// keys and values, a gated MLP, rotary positions on halves of a head.
namespace qkv {

/// What a family does where its config.json says nothing.
struct LlamaDefaults {
  std::int64_t n_ctx = 2048;
  std::int64_t n_kv_heads = 0;  // 0: as many as heads
  std::int64_t head_dim = 0;    // 0: the width divided by the heads
  double epsilon = 1e-6;
  bool tied = false;
  std::string_view epsilon_key = "rms_norm_eps";  // empty: no key gives it
  std::string_view activation_key = "hidden_act";
  std::string_view activation = "silu";
};

/// Sizes, norm, MLP, head and tokens. What is left to the family: positions, biases, windows, norms of q and k.
[[nodiscard]] Config read_llama_like(const JsonReader& reader, const LlamaDefaults& defaults);

/// Rotary positions of all of a head, the same in every layer.
[[nodiscard]] PositionConfig read_whole_rotary(const JsonReader& reader, const Config& config,
                                               const RotaryDefaults& defaults = {});

/// `attention_bias`: of W_q, W_k, W_v and W_o.
void read_attention_bias(const JsonReader& reader, AttentionConfig& attention);

/// A switch that the family's arithmetic does not have: false or absent, else refused.
void require_false(const JsonReader& reader, std::string_view key);

/// `sliding_window`: how many keys a query sees; 0 when it is null. `absent` where the key is not there.
[[nodiscard]] std::int64_t read_window(const JsonReader& reader, std::int64_t absent);

/// Which layers see a window only: by `layer_types`, else by `absent`.
[[nodiscard]] std::vector<bool> read_sliding_layers(const JsonReader& reader, std::int64_t n_layers,
                                                    const std::function<bool(std::int64_t layer)>& absent);

/// The window of each layer. Refuses layers that should have one where there is none.
[[nodiscard]] std::vector<std::int64_t> windows_of(const JsonReader& reader, const std::vector<bool>& sliding,
                                                   std::int64_t window);

/// Tensors by the names that Llama's publishers gave them; which norms there are follows from the config.
[[nodiscard]] Weights bind_llama_like(const Config& config, WeightBinder& binder);
/// The same where W_q W_k W_v are one matrix, and W_gate W_in another.
[[nodiscard]] Weights bind_llama_fused(const Config& config, WeightBinder& binder);

}  // namespace qkv
