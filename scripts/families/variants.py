"""Tiny checkpoints for switches of published families that the goldens by Hugging Face's own code leave untouched."""
import numpy as np

V, D, N_CTX, FF = 48, 16, 40, 24


def block(prefix, norms, linears, norm_bias=True):
    """{"out": (32, 16), ...} and norms to tensors; a linear (out, in, True) has a bias."""
    shapes = {}
    for name in norms:
        shapes[f"{prefix}{name}.weight"] = (D,)
        if norm_bias:
            shapes[f"{prefix}{name}.bias"] = (D,)
    for name, (out, into, bias) in linears.items():
        shapes[f"{prefix}{name}.weight"] = (out, into)
        if bias:
            shapes[f"{prefix}{name}.bias"] = (out,)
    return shapes


def blocks(n_layers, layer, norms, linears, norm_bias=True):
    return {name: shape for i in range(n_layers)
            for name, shape in block(layer.format(i), norms, linears, norm_bias).items()}


def fill(shapes, seed):
    rng = np.random.default_rng(seed)
    tensors = {}
    for name, shape in sorted(shapes.items()):
        numbers = rng.standard_normal(shape)
        if len(shape) == 2 and "emb" not in name and "wte" not in name and "wpe" not in name:
            numbers *= 1.5 / np.sqrt(shape[1])
        if len(shape) == 1:
            numbers = 1 + 0.3 * numbers if name.endswith(".weight") else 0.3 * numbers
        tensors[name] = numbers.astype(np.float32)
    return tensors


def gpt_neo():
    config = {"model_type": "gpt_neo", "vocab_size": V, "hidden_size": D, "num_layers": 3, "num_heads": 2,
              "max_position_embeddings": N_CTX, "intermediate_size": FF, "window_size": 3,
              "attention_types": [[["local"], 2], [["global"], 1]], "activation_function": "gelu_new",
              "layer_norm_epsilon": 1e-5, "tie_word_embeddings": False, "torch_dtype": "float32"}
    a = "attn.attention."
    linears = {a + "q_proj": (D, D, False), a + "k_proj": (D, D, False), a + "v_proj": (D, D, False),
               a + "out_proj": (D, D, True), "mlp.c_fc": (FF, D, True), "mlp.c_proj": (D, FF, True)}
    shapes = {"wte.weight": (V, D), "wpe.weight": (N_CTX, D), "lm_head.weight": (V, D)}
    shapes |= blocks(3, "h.{}.", ["ln_1", "ln_2"], linears) | block("", ["ln_f"], {})
    return config, shapes


def gpt_neox():
    config = {"model_type": "gpt_neox", "vocab_size": V, "hidden_size": D, "num_hidden_layers": 2,
              "num_attention_heads": 2, "max_position_embeddings": N_CTX, "intermediate_size": FF,
              "hidden_act": "gelu_fast", "rotary_pct": 0.25, "rotary_emb_base": 500, "attention_bias": False,
              "rope_scaling": {"type": "linear", "factor": 2.0}, "use_parallel_residual": True,
              "layer_norm_eps": 1e-6, "tie_word_embeddings": True, "dtype": "float32"}
    linears = {"attention.query_key_value": (3 * D, D, False), "attention.dense": (D, D, False),
               "mlp.dense_h_to_4h": (FF, D, True), "mlp.dense_4h_to_h": (D, FF, True)}
    shapes = {"embed_in.weight": (V, D)} | block("", ["final_layer_norm"], {})
    shapes |= blocks(2, "layers.{}.", ["input_layernorm", "post_attention_layernorm"], linears)
    return config, shapes


def gptj(codegen):
    config = {"model_type": "codegen" if codegen else "gptj", "vocab_size": V, "n_embd": D,
              "n_layer": 1 if codegen else 2, "n_head": 8 if codegen else 2, "n_positions": N_CTX, "rotary_dim": 2 if codegen else 6, "n_inner": FF,
              "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": not codegen}
    linears = {"attn.out_proj": (D, D, False), "mlp.fc_in": (FF, D, True), "mlp.fc_out": (D, FF, True)}
    if codegen:
        linears["attn.qkv_proj"] = (3 * D, D, False)
    else:
        linears |= {f"attn.{p}_proj": (D, D, False) for p in "qkv"}
    shapes = {"transformer.wte.weight": (V, D), "lm_head.bias": (V,)}
    if codegen:
        shapes["lm_head.weight"] = (V, D)
    shapes |= blocks(config["n_layer"], "transformer.h.{}.", ["ln_1"], linears) | block("transformer.", ["ln_f"], {})
    return config, shapes


def opt():
    config = {"model_type": "opt", "vocab_size": V, "hidden_size": D, "num_hidden_layers": 2,
              "num_attention_heads": 4, "max_position_embeddings": N_CTX, "ffn_dim": FF, "activation_function": "gelu",
              "do_layer_norm_before": True, "_remove_final_layer_norm": True, "word_embed_proj_dim": 12,
              "enable_bias": False, "layer_norm_elementwise_affine": False, "tie_word_embeddings": False}
    linears = {f"self_attn.{p}_proj": (D, D, False) for p in ("q", "k", "v", "out")}
    linears |= {"fc1": (FF, D, False), "fc2": (D, FF, False)}
    shapes = {"decoder.embed_tokens.weight": (V, 12), "decoder.embed_positions.weight": (N_CTX + 2, D),
              "decoder.project_in.weight": (D, 12), "decoder.project_out.weight": (12, D), "lm_head.weight": (V, 12)}
    return config, shapes | blocks(2, "decoder.layers.{}.", [], linears)


def bloom():
    config = {"model_type": "bloom", "vocab_size": V, "hidden_size": D, "n_layer": 2, "n_head": 4,
              "apply_residual_connection_post_layernorm": True, "layer_norm_epsilon": 1e-5, "n_inner": None,
              "pretraining_tp": 2, "slow_but_exact": True}
    linears = {"self_attention.query_key_value": (3 * D, D, True), "self_attention.dense": (D, D, True),
               "mlp.dense_h_to_4h": (4 * D, D, True), "mlp.dense_4h_to_h": (D, 4 * D, True)}
    shapes = {"word_embeddings.weight": (V, D)} | block("", ["word_embeddings_layernorm", "ln_f"], {})
    shapes |= blocks(2, "h.{}.", ["input_layernorm", "post_attention_layernorm"], linears)
    return config, shapes


def bloom_of_three_heads():
    """Five ALiBi slopes of which the last does not follow the first four, and heads of no even width."""
    global D
    D = 15
    config, shapes = bloom()
    D = 16
    config |= {"hidden_size": 15, "n_head": 5, "apply_residual_connection_post_layernorm": False}
    return config, shapes


def mpt(attn_config, kv_width, bias=False, n_heads=4):
    config = {"model_type": "mpt", "vocab_size": V, "d_model": D, "n_layers": 2, "n_heads": n_heads,
              "max_seq_len": N_CTX, "expansion_ratio": 2, "attn_config": attn_config, "no_bias": not bias,
              "learned_pos_emb": True, "logit_scale": None, "norm_type": "low_precision_layernorm",
              "embedding_fraction": 0.5, "tie_word_embeddings": not bias}
    linears = {"attn.Wqkv": (D + 2 * kv_width, D, bias), "attn.out_proj": (D, D, bias),
               "ffn.up_proj": (2 * D, D, bias), "ffn.down_proj": (D, 2 * D, bias)}
    shapes = {"transformer.wte.weight": (V, D)} | block("transformer.", ["norm_f"], {}, bias)
    if not attn_config.get("alibi", True):
        shapes["transformer.wpe.weight"] = (N_CTX, D)
    if bias:
        shapes["lm_head.weight"] = (V, D)
    shapes |= blocks(2, "transformer.blocks.{}.", ["norm_1", "norm_2"], linears, bias)
    if attn_config.get("qk_ln", False):
        for i in range(2):
            for name, width in (("q_ln", D), ("k_ln", kv_width)):
                shapes[f"transformer.blocks.{i}.attn.{name}.weight"] = (width,)
                shapes[f"transformer.blocks.{i}.attn.{name}.bias"] = (width,)
    return config, shapes


def falcon(kv, norms, bias=False, **switches):
    heads = switches.get("num_attention_heads", 4)
    config = {"model_type": "falcon", "vocab_size": V, "hidden_size": D, "num_hidden_layers": 2,
              "num_attention_heads": heads, "num_kv_heads": kv, "bias": bias, "ffn_hidden_size": FF,
              "max_position_embeddings": N_CTX, "layer_norm_epsilon": 1e-5} | switches
    linears = {"self_attention.query_key_value": (D + 2 * kv * D // heads, D, bias),
               "self_attention.dense": (D, D, bias), "mlp.dense_h_to_4h": (FF, D, bias),
               "mlp.dense_4h_to_h": (D, FF, bias)}
    shapes = {"transformer.word_embeddings.weight": (V, D), "lm_head.weight": (V, D)}
    config["tie_word_embeddings"] = False
    return config, shapes | blocks(2, "transformer.h.{}.", norms, linears) | block("transformer.", ["ln_f"], {})


def gpt_bigcode():
    config = {"model_type": "gpt_bigcode", "vocab_size": V, "n_embd": D, "n_layer": 2, "n_head": 4,
              "n_positions": N_CTX, "n_inner": FF, "multi_query": False, "scale_attn_weights": False,
              "activation_function": "gelu_pytorch_tanh", "layer_norm_epsilon": 1e-5}
    linears = {"attn.c_attn": (3 * D, D, True), "attn.c_proj": (D, D, True), "mlp.c_fc": (FF, D, True),
               "mlp.c_proj": (D, FF, True)}
    shapes = {"transformer.wte.weight": (V, D), "transformer.wpe.weight": (N_CTX, D)}
    return config, shapes | blocks(2, "transformer.h.{}.", ["ln_1", "ln_2"], linears) | block("transformer.", ["ln_f"],
                                                                                             {})


def separate(family, root, kv, bias_qkv, bias_o, mlp, mlp_bias, norms, final, **switches):
    """StarCoder 2, Phi and StableLM, of four heads."""
    config = {"model_type": family, "vocab_size": V, "hidden_size": D, "num_hidden_layers": 2,
              "num_attention_heads": 2, "num_key_value_heads": kv, "intermediate_size": FF,
              "max_position_embeddings": N_CTX} | switches
    at = "self_attn."
    linears = {at + "q_proj": (D, D, bias_qkv), at + "k_proj": (kv * 8, D, bias_qkv),
               at + "v_proj": (kv * 8, D, bias_qkv)}
    linears[at + ("dense" if family == "phi" else "o_proj")] = (D, D, bias_o)
    linears |= {f"mlp.{name}": shape + (mlp_bias,) for name, shape in mlp.items()}
    shapes = {root + "embed_tokens.weight": (V, D)} | block(root, [final], {})
    if not switches.get("tie_word_embeddings", False):
        shapes["lm_head.weight"] = (V, D)
        if family == "phi":
            shapes["lm_head.bias"] = (V,)
    return config, shapes | blocks(2, root + "layers.{}.", norms, linears)


def starcoder2():
    return separate("starcoder2", "", 1, False, False, {"c_fc": (FF, D), "c_proj": (D, FF)}, False,
                    ["input_layernorm", "post_attention_layernorm"], "norm", norm_epsilon=1e-5, sliding_window=5,
                    use_bias=False, hidden_act="gelu_pytorch_tanh", tie_word_embeddings=False,
                    rope_parameters={"rope_type": "default", "rope_theta": 2000.0})


def phi():
    config, shapes = separate("phi", "", 1, True, True, {"fc1": (FF, D), "fc2": (D, FF)}, True, ["input_layernorm"],
                              "final_layernorm", layer_norm_eps=1e-5, qk_layernorm=True, hidden_act="gelu_new",
                              rope_parameters={"rope_type": "default", "rope_theta": 300.0,
                                               "partial_rotary_factor": 0.25})
    for i in range(2):
        for part in "qk":
            for kind in ("weight", "bias"):
                shapes[f"layers.{i}.self_attn.{part}_layernorm.{kind}"] = (8,)
    return config, shapes


def stablelm():
    mlp = {"gate_proj": (FF, D), "up_proj": (FF, D), "down_proj": (D, FF)}
    config, shapes = separate("stablelm", "model.", 1, True, False, mlp, False, ["input_layernorm"], "norm",
                              layer_norm_eps=1e-5, qk_layernorm=True, use_qkv_bias=True, use_parallel_residual=True,
                              hidden_act="silu", rope_theta=700, tie_word_embeddings=True)
    for i in range(2):
        for part, heads in (("q", 2), ("k", 1)):
            for head in range(heads):
                shapes[f"model.layers.{i}.self_attn.{part}_layernorm.norms.{head}.weight"] = (8,)
    return config, shapes


def granite(n_layers, bias, **switches):
    config = {"model_type": "granite", "vocab_size": V, "hidden_size": D, "num_hidden_layers": n_layers,
              "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": FF, "hidden_act": "silu",
              "max_position_embeddings": N_CTX, "rms_norm_eps": 1e-5, "attention_bias": bias, "mlp_bias": bias,
              "bos_token_id": 1, "eos_token_id": 2} | switches
    linears = {f"self_attn.{name}_proj": shape + (bias,)
               for name, shape in {"q": (D, D), "k": (D // 2, D), "v": (D // 2, D), "o": (D, D)}.items()}
    linears |= {f"mlp.{name}_proj": shape + (bias,)
                for name, shape in {"gate": (FF, D), "up": (FF, D), "down": (D, FF)}.items()}
    shapes = {"model.embed_tokens.weight": (V, D)} | block("model.", ["norm"], {}, False)
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (V, D)
    return config, shapes | blocks(n_layers, "model.layers.{}.", ["input_layernorm", "post_attention_layernorm"],
                                   linears, False)


def all_of_them():
    two, one = ["ln_attn", "ln_mlp"], ["input_layernorm"]
    made = {
        "gpt_neo-window3": gpt_neo(),
        "gpt_neox-bare": gpt_neox(),
        "gptj-tied": gptj(False),
        "codegen-heads8": gptj(True),
        "opt-bare": opt(),
        "bloom-post": bloom(),
        "bloom-heads5": bloom_of_three_heads(),
        "mpt-clip": mpt({"clip_qkv": 1.0, "softmax_scale": 0.9, "attn_impl": "triton"}, D),
        "mpt-learned": mpt({"alibi": False, "qk_ln": True, "attn_type": "multiquery_attention"}, 4, True),
        "mpt-grouped": mpt({"attn_type": "grouped_query_attention", "kv_n_heads": 2}, 8),
        "falcon-grouped": falcon(2, two, True, new_decoder_architecture=True, rope_theta=500.0),
        "falcon-one-norm": falcon(2, one, new_decoder_architecture=True, num_ln_in_parallel_attn=1, activation="relu"),
        "falcon-sequential": falcon(1, one + ["post_attention_layernorm"], parallel_attn=False),
        "gpt_bigcode-mha": gpt_bigcode(),
        "starcoder2-window5": starcoder2(),
        "phi-qknorm": phi(),
        "stablelm-parallel": stablelm(),
        "granite": granite(2, False, embedding_multiplier=3.0, attention_multiplier=0.55, residual_multiplier=0.7,
                           logits_scaling=0.4, rope_theta=200.0, rope_scaling=None, tie_word_embeddings=False),
        "granite-bias": granite(1, True, embedding_multiplier=0.8, attention_multiplier=0.25, residual_multiplier=1.6,
                                logits_scaling=6.0, tie_word_embeddings=True, rope_parameters={
                                    "rope_type": "linear", "rope_theta": 500.0, "factor": 2.0}),
    }
    for seed, (name, (config, shapes)) in enumerate(made.items()):
        yield name, config, fill(shapes, seed)
