"""What published families compute, worked out with numpy alone in float64.

    python3 goldens.py make DIRECTORY    writes the checkpoints of variants.py, each with its expected values
    python3 goldens.py check DIRECTORY   compares with the expected values of folders that another program made;
                                         the last of the hidden states, after the final norm, is left out

Each family below is written from its paper and from what its publisher's config says, in the shapes in which its own
tensors lie. expected.safetensors holds, for n in 1, 7, 33: nN.input_ids [n], nN.logits [n, V], nN.attn [L, H, n, n],
nN.hidden [L + 1, n, D] (the last after the final norm, filled up with zeros where it is narrower); gen.prompt, gen.tokens [20], gen.logits [20, V]: greedy.
"""
import json
import pathlib
import sys

import numpy as np

import arrays
import variants
from parts import ACTIVATIONS, Run, bf16, rotate, slopes


def gpt_neo(config, tensors, ids):
    r = Run(config, tensors, ["transformer."])
    kinds = config.get("attention_layers") or sum((kind * times for kind, times in config["attention_types"]), [])
    eps, n, heads = config["layer_norm_epsilon"], len(ids), config["num_heads"]
    x = r.at("wte.weight")[ids] + r.at("wpe.weight")[:n]
    for i, kind in enumerate(kinds):
        r.hidden.append(x)
        h = r.norm(x, f"h.{i}.ln_1", eps)
        q, k, v = (r.linear(h, f"h.{i}.attn.attention.{p}_proj").reshape(n, heads, -1) for p in "qkv")
        y = r.attend(q, k, v, 1.0, window=config["window_size"] if kind == "local" else None)
        x = x + r.linear(y, f"h.{i}.attn.attention.out_proj")
        h = r.norm(x, f"h.{i}.ln_2", eps)
        x = x + r.mlp(h, f"h.{i}.mlp.c_fc", f"h.{i}.mlp.c_proj", config["activation_function"])
    return r, r.finish(x, "ln_f", eps, "lm_head", "wte")


def gpt_neox(config, tensors, ids):
    r = Run(config, tensors, ["gpt_neox."])
    eps, n, heads = config["layer_norm_eps"], len(ids), config["num_attention_heads"]
    theta = config.get("rotary_emb_base", 10000)
    factor = (config.get("rope_scaling") or {}).get("factor", 1.0)
    x = r.at("embed_in.weight")[ids]
    for i in range(config["num_hidden_layers"]):
        r.hidden.append(x)
        at = f"layers.{i}."
        h = r.norm(x, at + "input_layernorm", eps)
        q, k, v = np.moveaxis(r.linear(h, at + "attention.query_key_value").reshape(n, heads, 3, -1), 2, 0)
        width = q.shape[-1]
        q, k = (rotate(y, int(width * config.get("rotary_pct", 0.25)), theta, factor=factor) for y in (q, k))
        y = r.linear(r.attend(q, k, v, width**-0.5), at + "attention.dense")
        parallel = config.get("use_parallel_residual", True)
        h = r.norm(x if parallel else x + y, at + "post_attention_layernorm", eps)
        x = x + y + r.mlp(h, at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h", config["hidden_act"])
    return r, r.finish(x, "final_layer_norm", eps, "embed_out", "embed_in")


def codegen_heads(y, heads):
    """Queries, values, keys in each of four parts, each with a quarter of the heads."""
    q, v, k = np.moveaxis(y.reshape(len(y), 4, 3, heads // 4, -1), 2, 0)
    return (part.reshape(len(y), heads, -1) for part in (q, k, v))


def gptj(config, tensors, ids):
    r = Run(config, tensors, ["transformer."])
    eps, n, heads = config["layer_norm_epsilon"], len(ids), config["n_head"]
    x = r.at("wte.weight")[ids]
    for i in range(config["n_layer"]):
        r.hidden.append(x)
        at = f"h.{i}."
        h = r.norm(x, at + "ln_1", eps)
        if config["model_type"] == "codegen":
            q, k, v = codegen_heads(r.linear(h, at + "attn.qkv_proj"), heads)
        else:
            q, k, v = (r.linear(h, f"{at}attn.{p}_proj").reshape(n, heads, -1) for p in "qkv")
        q, k = (rotate(y, config["rotary_dim"], 10000, pairs=True) for y in (q, k))
        y = r.linear(r.attend(q, k, v, q.shape[-1]**-0.5), at + "attn.out_proj")
        x = x + y + r.mlp(h, at + "mlp.fc_in", at + "mlp.fc_out", config["activation_function"])
    return r, r.finish(x, "ln_f", eps, "lm_head", "wte")


def opt(config, tensors, ids):
    r = Run(config, tensors, ["model.decoder.", "decoder."])
    n, heads = len(ids), config["num_attention_heads"]
    before = config.get("do_layer_norm_before", True)
    width = config["hidden_size"] // heads
    x = r.at("embed_tokens.weight")[ids]
    if r.at("project_in.weight") is not None:
        x = r.linear(x, "project_in")
    x = x + r.at("embed_positions.weight")[2:2 + n]
    for i in range(config["num_hidden_layers"]):
        r.hidden.append(x)
        at = f"layers.{i}."
        for half, name in (("attn", "self_attn_layer_norm"), ("mlp", "final_layer_norm")):
            h = r.norm(x, at + name, 1e-5) if before else x
            if half == "attn":
                q, k, v = (r.linear(h, f"{at}self_attn.{p}_proj").reshape(n, heads, -1) for p in "qkv")
                y = r.linear(r.attend(q, k, v, width**-0.5), at + "self_attn.out_proj")
            else:
                y = r.mlp(h, at + "fc1", at + "fc2", config["activation_function"])
            x = x + y if before else r.norm(x + y, at + name, 1e-5)
    if before and not config.get("_remove_final_layer_norm", False):
        x = r.norm(x, "final_layer_norm", 1e-5)
    if r.at("project_out.weight") is not None:
        x = r.linear(x, "project_out")
    return r, r.finish(x, None, None, "lm_head", "embed_tokens")


def bloom(config, tensors, ids):
    r = Run(config, tensors, ["transformer."])
    eps, n, heads = config["layer_norm_epsilon"], len(ids), config["n_head"]
    alibi = slopes(heads) * np.arange(n)
    x = r.norm(r.at("word_embeddings.weight")[ids], "word_embeddings_layernorm", eps)
    for i in range(config["n_layer"]):
        r.hidden.append(x)
        at = f"h.{i}."
        keep_normed = config.get("apply_residual_connection_post_layernorm", False)
        h = r.norm(x, at + "input_layernorm", eps)
        q, k, v = np.moveaxis(r.linear(h, at + "self_attention.query_key_value").reshape(n, heads, 3, -1), 2, 0)
        y = r.linear(r.attend(q, k, v, q.shape[-1]**-0.5, alibi), at + "self_attention.dense")
        x = (h if keep_normed else x) + y
        h = r.norm(x, at + "post_attention_layernorm", eps)
        y = r.mlp(h, at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h", "gelu_new")
        x = (h if keep_normed else x) + y
    return r, r.finish(x, "ln_f", eps, "lm_head", "word_embeddings")


def mpt(config, tensors, ids):
    """As MosaicML's own program does it, which knows more switches."""
    r = Run(config, tensors, ["transformer."])
    a, eps, n, heads = config.get("attn_config", {}), 1e-5, len(ids), config["n_heads"]
    width = config["d_model"] // heads
    x = r.at("wte.weight")[ids]
    bias = slopes(heads) * np.arange(1 - n, 1)
    if not a.get("alibi", True):
        x, bias = x + r.at("wpe.weight")[:n], 0.0
    scale = a.get("softmax_scale") or width**-0.5
    for i in range(config["n_layers"]):
        r.hidden.append(x)
        at = f"blocks.{i}."
        fused = r.linear(r.norm(x, at + "norm_1", eps), at + "attn.Wqkv")
        if a.get("clip_qkv"):
            fused = fused.clip(-a["clip_qkv"], a["clip_qkv"])
        rest = (fused.shape[1] - config["d_model"]) // 2
        q, k, v = np.split(fused, [config["d_model"], config["d_model"] + rest], 1)
        if a.get("qk_ln", False):
            q, k = r.norm(q, at + "attn.q_ln", eps), r.norm(k, at + "attn.k_ln", eps)
        y = r.attend(*(part.reshape(n, -1, width) for part in (q, k, v)), scale, bias)
        x = x + r.linear(y, at + "attn.out_proj")
        x = x + r.mlp(r.norm(x, at + "norm_2", eps), at + "ffn.up_proj", at + "ffn.down_proj", "gelu")
    return r, r.finish(x, "norm_f", eps, "lm_head", "wte")


def falcon_heads(config, y, heads):
    if config.get("new_decoder_architecture", False):
        y = y.reshape(len(y), config["num_kv_heads"], heads // config["num_kv_heads"] + 2, -1)
        return y[:, :, :-2].reshape(len(y), heads, -1), y[:, :, -2], y[:, :, -1]
    if config.get("multi_query", True):
        y = y.reshape(len(y), heads + 2, -1)
        return y[:, :-2], y[:, -2:-1], y[:, -1:]
    return np.moveaxis(y.reshape(len(y), heads, 3, -1), 2, 0)


def falcon(config, tensors, ids):
    r = Run(config, tensors, ["transformer."])
    eps, n, heads = config["layer_norm_epsilon"], len(ids), config["num_attention_heads"]
    scale = (config["hidden_size"] // heads)**-0.5
    # Twice, as "eager" attention in transformers 4.48 has it: once added to the scores, once by way of the mask.
    alibi = 2 * bf16(bf16(slopes(heads)) * bf16(np.arange(n))) if config.get("alibi", False) else 0.0
    two_norms = config.get("new_decoder_architecture", False) and config.get("num_ln_in_parallel_attn") != 1
    x = r.at("word_embeddings.weight")[ids]
    for i in range(config["num_hidden_layers"]):
        r.hidden.append(x)
        at = f"h.{i}."
        h = r.norm(x, at + ("ln_attn" if two_norms else "input_layernorm"), eps)
        q, k, v = falcon_heads(config, r.linear(h, at + "self_attention.query_key_value"), heads)
        if not config.get("alibi", False):
            q, k = (rotate(y, y.shape[-1], config.get("rope_theta", 10000)) for y in (q, k))
        y = r.linear(r.attend(q, k, v, scale, alibi, scale), at + "self_attention.dense")
        if two_norms:
            h = r.norm(x, at + "ln_mlp", eps)
        elif not config.get("parallel_attn", True):
            h = r.norm(x + y, at + "post_attention_layernorm", eps)
        x = x + y + r.mlp(h, at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h", config.get("activation", "gelu"))
    return r, r.finish(x, "ln_f", eps, "lm_head", "word_embeddings")


def gpt_bigcode(config, tensors, ids):
    r = Run(config, tensors, ["transformer."])
    eps, n, heads, d = config["layer_norm_epsilon"], len(ids), config["n_head"], config["n_embd"]
    x = r.at("wte.weight")[ids] + r.at("wpe.weight")[:n]
    for i in range(config["n_layer"]):
        r.hidden.append(x)
        at = f"h.{i}."
        y = r.linear(r.norm(x, at + "ln_1", eps), at + "attn.c_attn")
        if config.get("multi_query", True):
            q, k, v = (part.reshape(n, -1, d // heads) for part in np.split(y, [d, d + d // heads], 1))
        else:
            q, k, v = np.moveaxis(y.reshape(n, heads, 3, -1), 2, 0)
        scale = (d // heads)**-0.5 if config.get("scale_attn_weights", True) else 1.0
        x = x + r.linear(r.attend(q, k, v, scale), at + "attn.c_proj")
        x = x + r.mlp(r.norm(x, at + "ln_2", eps), at + "mlp.c_fc", at + "mlp.c_proj", config["activation_function"])
    return r, r.finish(x, "ln_f", eps, "lm_head", "wte")


def per_head_norm(r, x, name, eps):
    """x [n, heads, K], with one gain for all heads or one for each."""
    if r.at(name + ".weight") is not None:
        return r.norm(x, name, eps)
    return np.stack([r.norm(x[:, h], f"{name}.norms.{h}", eps) for h in range(x.shape[1])], 1)


def rotary_of_halves(config, absent_share):
    """The share of a head that is rotated, and theta, in the newer or the older spelling."""
    new = config.get("rope_parameters", {})
    share = new.get("partial_rotary_factor", config.get("partial_rotary_factor", absent_share))
    return share, new.get("rope_theta", config.get("rope_theta", 10000))


def separate_heads(config, tensors, ids):
    """StarCoder 2, Phi, StableLM: W_q, W_k and W_v each by itself, heads that may share keys and values."""
    r = Run(config, tensors, ["model."])
    family = config["model_type"]
    eps = config["norm_epsilon" if family == "starcoder2" else "layer_norm_eps"]
    n, heads = len(ids), config["num_attention_heads"]
    width = config["hidden_size"] // heads
    share, theta = rotary_of_halves(config, {"starcoder2": 1.0, "phi": 0.5, "stablelm": 0.25}[family])
    one_norm = family == "phi" or config.get("use_parallel_residual", False)
    x = r.at("embed_tokens.weight")[ids]
    for i in range(config["num_hidden_layers"]):
        r.hidden.append(x)
        at = f"layers.{i}."
        h = r.norm(x, at + "input_layernorm", eps)
        q, k, v = (r.linear(h, f"{at}self_attn.{p}_proj").reshape(n, -1, width) for p in "qkv")
        if config.get("qk_layernorm", False):
            q, k = (per_head_norm(r, y, f"{at}self_attn.{p}_layernorm", eps) for p, y in (("q", q), ("k", k)))
        q, k = (rotate(y, int(width * share), theta) for y in (q, k))
        y = r.attend(q, k, v, width**-0.5, window=config.get("sliding_window"))
        y = r.linear(y, at + ("self_attn.dense" if family == "phi" else "self_attn.o_proj"))
        if not one_norm:
            h = r.norm(x + y, at + "post_attention_layernorm", eps)
        act = config["hidden_act"]
        if family == "stablelm":
            inner = ACTIVATIONS[act](r.linear(h, at + "mlp.gate_proj")) * r.linear(h, at + "mlp.up_proj")
            x = x + y + r.linear(inner, at + "mlp.down_proj")
        else:
            into, out = ("fc1", "fc2") if family == "phi" else ("c_fc", "c_proj")
            x = x + y + r.mlp(h, f"{at}mlp.{into}", f"{at}mlp.{out}", act)
    return r, r.finish(x, "final_layernorm" if family == "phi" else "norm", eps, "lm_head", "embed_tokens")


def rotary_of_llama(config):
    """Theta and the factor by which positions are divided, in the newer or the older spelling."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "linear"):
        raise NotImplementedError(f"rotary positions of the kind {kind}")
    return rope.get("rope_theta", config.get("rope_theta", 10000.0)), rope.get("factor", 1.0)


def llama(config, tensors, ids):
    """Llama, and Granite with its multipliers."""
    r = Run(config, tensors, ["model."])
    eps, n = config.get("rms_norm_eps", 1e-6), len(ids)
    width = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    theta, factor = rotary_of_llama(config)
    scale, added = width**-0.5, 1.0
    x = r.at("embed_tokens.weight")[ids]
    if config["model_type"] == "granite":
        x = x * config.get("embedding_multiplier", 1.0)
        scale, added = config.get("attention_multiplier", 1.0), config.get("residual_multiplier", 1.0)
    for i in range(config["num_hidden_layers"]):
        r.hidden.append(x)
        at = f"layers.{i}."
        h = r.rms_norm(x, at + "input_layernorm", eps)
        q, k, v = (r.linear(h, f"{at}self_attn.{p}_proj").reshape(n, -1, width) for p in "qkv")
        q, k = (rotate(y, width, theta, factor=factor) for y in (q, k))
        x = x + added * r.linear(r.attend(q, k, v, scale), at + "self_attn.o_proj")
        h = r.rms_norm(x, at + "post_attention_layernorm", eps)
        inner = ACTIVATIONS[config.get("hidden_act", "silu")](r.linear(h, at + "mlp.gate_proj"))
        x = x + added * r.linear(inner * r.linear(h, at + "mlp.up_proj"), at + "mlp.down_proj")
    logits = r.finish(x, "norm", eps, "lm_head", "embed_tokens", rms=True)
    return r, logits / (config.get("logits_scaling", 1.0) if config["model_type"] == "granite" else 1.0)


FAMILIES = {"gpt_neo": gpt_neo, "gpt_neox": gpt_neox, "gptj": gptj, "codegen": gptj, "opt": opt, "bloom": bloom,
            "mpt": mpt, "falcon": falcon, "gpt_bigcode": gpt_bigcode, "starcoder2": separate_heads,
            "phi": separate_heads, "stablelm": separate_heads, "llama": llama, "granite": llama}


def run(config, tensors, ids):
    return FAMILIES[config["model_type"]](config, tensors, np.asarray(ids))


def expected_values(config, tensors, rng):
    result, vocabulary = {}, config["vocab_size"]
    for n in (1, 7, 33):
        ids = rng.integers(3, vocabulary, n)
        r, logits = run(config, tensors, ids)
        r.hidden[-1] = np.pad(r.hidden[-1], ((0, 0), (0, r.hidden[0].shape[1] - r.hidden[-1].shape[1])))
        result |= {f"n{n}.input_ids": ids, f"n{n}.logits": logits, f"n{n}.attn": np.stack(r.attn),
                   f"n{n}.hidden": np.stack(r.hidden)}
    ids, rows = list(rng.integers(3, vocabulary, 5)), []
    result["gen.prompt"] = np.array(ids)
    for _ in range(20):
        rows.append(run(config, tensors, ids)[1][-1])
        ids.append(int(rows[-1].argmax()))
    return result | {"gen.tokens": np.array(ids[5:]), "gen.logits": np.stack(rows)}


def make(directory):
    for name, config, tensors in variants.all_of_them():
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        arrays.save(folder / "model.safetensors", tensors)
        wide = {key: value.astype(np.float64) for key, value in tensors.items()}
        values = expected_values(config, wide, np.random.default_rng(len(name)))
        arrays.save(folder / "expected.safetensors", values)
        peak = np.mean([p.max(-1)[:, 5:].mean() for p in values["n33.attn"]])
        best = np.sort(values["gen.logits"], -1)
        print(f"{name:28} logits up to {np.abs(values['n33.logits']).max():5.1f}, largest weight of a row {peak:.2f}, "
              f"greedy ids by at least {(best[:, -1] - best[:, -2]).min():.3f}, "
              f"{len(set(values['gen.tokens']))} of them")


def check(directory):
    for folder in sorted(path for path in directory.iterdir() if (path / "config.json").exists()):
        config = json.loads((folder / "config.json").read_text())
        if config.get("model_type") not in FAMILIES:
            continue
        tensors = {key: value.astype(np.float64) for path in sorted(folder.glob("model*.safetensors"))
                   for key, value in arrays.load(path).items()}
        expected, worst = arrays.load(folder / "expected.safetensors"), {}
        for n in ("n1", "n7", "n33", "n48"):
            if n + ".input_ids" not in expected:
                continue
            try:
                r, logits = run(config, tensors, expected[n + ".input_ids"])
            except NotImplementedError as what:
                print(f"{folder.name:28} left out: {what}")
                break
            found = {"logits": logits, "attn": np.stack(r.attn), "hidden": np.stack(r.hidden[:-1])}
            for what, value in found.items():
                other = expected[f"{n}.{what}"][:len(value)]
                worst[what] = max(worst.get(what, 0), np.abs(value - other).max())
        if worst:
            print(f"{folder.name:28}", *(f"{what} {value:.1e}" for what, value in worst.items()))


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
