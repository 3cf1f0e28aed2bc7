"""Small checkpoints for switches that no published golden covers, with what they must give, worked out in float64.

    python3 make_llama_like.py [NAME ...]             writes them (all when none is named) into models/
    python3 make_llama_like.py --check FOLDER ...     compares with goldens that another program made

Written from what Hugging Face's modeling code does with each key; nothing is taken from the program under test. Needs
numpy only. Arrays as README.md says for models/; the values were computed in float64 and are stored as float32.
"""
import json
import math
import pathlib
import struct
import sys
import zlib

import numpy as np

SIZES = dict(vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2,
             num_key_value_heads=1, max_position_embeddings=64, bos_token_id=1, eos_token_id=2)
GEMMA3 = dict(SIZES, model_type="gemma3_text", head_dim=8, hidden_activation="gelu_pytorch_tanh", num_hidden_layers=4,
              query_pre_attn_scalar=20, sliding_window=5)
LONG = dict(short_factor=[1.0, 1.05, 1.1, 1.3], long_factor=[1.2, 2.0, 3.5, 4.0])
YARN = dict(SIZES, head_dim=16, rope_theta=1000.0)

CONFIGS = {
    "mistral-headdim": dict(SIZES, model_type="mistral", head_dim=10, sliding_window=None),
    "qwen2-window": dict(SIZES, model_type="qwen2", use_sliding_window=True, sliding_window=6, max_window_layers=1),
    "qwen2-layertypes": dict(SIZES, model_type="qwen2", use_sliding_window=True, sliding_window=9, max_window_layers=7,
                             num_hidden_layers=3, tie_word_embeddings=True, num_key_value_heads=2,
                             layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
    "qwen2-yarn": dict(YARN, model_type="qwen2", rope_scaling={
        "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}),
    "qwen3-yarn": dict(YARN, model_type="qwen3", rope_theta=None, attention_bias=True, rope_parameters={
        "rope_type": "yarn", "rope_theta": 500.0, "factor": 3.0, "original_max_position_embeddings": 24,
        "mscale": 1.4, "mscale_all_dim": 0.6, "beta_fast": 8.0, "beta_slow": 0.5}),
    "llama-yarn": dict(YARN, model_type="llama", rope_scaling={
        "rope_type": "yarn", "factor": 4.0, "attention_factor": 1.25, "truncate": False, "beta_fast": 4}),
    "llama-dynamic": dict(SIZES, model_type="llama", rope_theta=500.0, rope_scaling={"type": "dynamic", "factor": 4.0}),
    "phi3-longrope": dict(SIZES, model_type="phi3", original_max_position_embeddings=16,
                          rope_scaling=dict(LONG, type="longrope")),
    "phi3-longrope-partial": dict(SIZES, model_type="phi3", hidden_size=32, sliding_window=11,
                                  original_max_position_embeddings=20, rope_parameters=dict(
                                      LONG, rope_type="longrope", rope_theta=300.0, partial_rotary_factor=0.5)),
    "gemma-legacy": dict(SIZES, model_type="gemma", head_dim=8, hidden_act="gelu", hidden_activation=None,
                         attention_bias=True),
    "gemma2-window7": dict(SIZES, model_type="gemma2", head_dim=8, hidden_activation="gelu_pytorch_tanh",
                           attn_logit_softcapping=None, final_logit_softcapping=2.0, query_pre_attn_scalar=6,
                           sliding_window=7, num_hidden_layers=3,
                           layer_types=["full_attention", "sliding_attention", "sliding_attention"]),
    "gemma2-defaults": dict(SIZES, model_type="gemma2", head_dim=8, num_hidden_layers=3, sliding_window=4),
    "gemma3-linear": dict(GEMMA3, rope_theta=5000.0, rope_local_base_freq=400.0, sliding_window_pattern=2,
                          rope_scaling={"rope_type": "linear", "factor": 8.0}),
    "gemma3-parameters": dict(GEMMA3, attn_logit_softcapping=3.0, final_logit_softcapping=4.0, rope_parameters={
        "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 900.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}},
        layer_types=["full_attention", "sliding_attention", "full_attention", "sliding_attention"]),
    "olmo-clip": dict(SIZES, model_type="olmo", num_key_value_heads=2, clip_qkv=0.7, attention_bias=True),
    "olmo2-tied": dict(SIZES, model_type="olmo2", tie_word_embeddings=True, attention_bias=True, rms_norm_eps=1e-3),
    "cohere-qknorm": dict(SIZES, model_type="cohere", num_attention_heads=4, num_key_value_heads=2, use_qk_norm=True,
                          rope_theta=300.0, logit_scale=1.5, layer_norm_eps=1e-3, attention_bias=True),
    "smollm3-interval": dict(SIZES, model_type="smollm3", no_rope_layer_interval=2, num_hidden_layers=4,
                             use_sliding_window=True, sliding_window=6, attention_bias=True, mlp_bias=True,
                             tie_word_embeddings=False),
}

DEFAULT_THETA = dict(smollm3=2e6, gemma3_text=1e6)
TIED = {"gemma", "gemma2", "gemma3_text", "cohere", "smollm3"}
GEMMAS = {"gemma", "gemma2", "gemma3_text"}


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + np.exp(-x))


# ---- rotary positions: inverse frequencies and the factor of cosines and sines, from modeling_rope_utils

def yarn(rope, base, dim, config):
    first = config.get("original_max_position_embeddings") or rope.get("original_max_position_embeddings") \
        or config["max_position_embeddings"]
    factor = rope.get("factor") or config["max_position_embeddings"] / first
    strength = lambda m: 1.0 if factor <= 1 else 0.1 * m * math.log(factor) + 1.0
    magnitude = rope.get("attention_factor")
    if magnitude is None:
        m, m_all = rope.get("mscale"), rope.get("mscale_all_dim")
        magnitude = strength(m) / strength(m_all) if m and m_all else strength(1)
    at = lambda turns: dim * math.log(first / (turns * 2 * math.pi)) / (2 * math.log(base))
    low, high = at(rope.get("beta_fast") or 32), at(rope.get("beta_slow") or 1)
    if rope.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    keep = 1 - np.clip((np.arange(dim // 2) - low) / (high - low if high != low else 0.001), 0, 1)
    plain = base ** (-np.arange(0, dim, 2) / dim)
    return plain / factor * (1 - keep) + plain * keep, magnitude


def longrope(rope, base, dim, config, length):
    first = config.get("original_max_position_embeddings") or rope.get("original_max_position_embeddings") \
        or config["max_position_embeddings"]
    factor = rope.get("factor") or config["max_position_embeddings"] / first
    magnitude = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(first))
    which = rope["long_factor" if length > first else "short_factor"]
    return base ** (-np.arange(0, dim, 2) / dim) / np.array(which), rope.get("attention_factor") or magnitude


def frequencies(config, layer_type, head_dim, length):
    family = config["model_type"]
    rope = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
    base = config.get("rope_theta") or DEFAULT_THETA.get(family, 1e4)
    if family == "gemma3_text":
        if layer_type in rope:
            rope = rope[layer_type]
        elif layer_type == "sliding_attention":
            rope, base = {}, config.get("rope_local_base_freq", 1e4)
    base = rope.get("rope_theta", base)
    share = config.get("partial_rotary_factor") or rope.get("partial_rotary_factor") or 1.0
    dim = int(head_dim * share)
    kind = rope.get("rope_type") or rope.get("type") or "default"
    if kind == "yarn":
        return yarn(rope, base, dim, config)
    if kind == "longrope":
        return longrope(rope, base, dim, config, length)
    if kind == "dynamic":
        n = config["max_position_embeddings"]
        base = base * (rope["factor"] * max(length, n) / n - (rope["factor"] - 1)) ** (dim / (dim - 2))
    return base ** (-np.arange(0, dim, 2) / dim) / (rope["factor"] if kind == "linear" else 1.0), 1.0


def rotate(x, config, layer_type, neighbours):
    """x [head, position, head_dim]"""
    rates, magnitude = frequencies(config, layer_type, x.shape[-1], x.shape[1])
    angle = np.arange(x.shape[1])[:, None] * rates[None]
    cos, sin = magnitude * np.cos(angle), magnitude * np.sin(angle)
    part, rest = x[..., :2 * len(rates)], x[..., 2 * len(rates):]
    if neighbours:
        one, two = part[..., 0::2], part[..., 1::2]
        turned = np.stack([one * cos - two * sin, two * cos + one * sin], -1).reshape(part.shape)
    else:
        one, two = part[..., :len(rates)], part[..., len(rates):]
        turned = np.concatenate([one * cos - two * sin, two * cos + one * sin], -1)
    return np.concatenate([turned, rest], -1)


# ---- what a family is like

def layer_types(config):
    family, n = config["model_type"], config["num_hidden_layers"]
    slides = lambda layer: False
    if family == "mistral":
        slides = lambda layer: window(config) > 0
    elif family == "phi3":
        slides = lambda layer: window(config) > 0
    elif family in ("qwen2", "qwen3") and config.get("use_sliding_window"):
        slides = lambda layer: layer >= config.get("max_window_layers", 28)
    elif family == "gemma2":
        slides = lambda layer: layer % 2 == 0
    elif family == "gemma3_text":
        slides = lambda layer: (layer + 1) % config.get("sliding_window_pattern", 6) != 0
    elif family == "smollm3" and config.get("use_sliding_window"):
        slides = lambda layer: not has_rotary(config, layer)
    return config.get("layer_types") or ["sliding_attention" if slides(i) else "full_attention" for i in range(n)]


def window(config):
    default = {"mistral": 4096, "phi3": None}.get(config["model_type"], 4096)
    return config.get("sliding_window", default) or 0


def has_rotary(config, layer):
    if config["model_type"] != "smollm3":
        return True
    listed = config.get("no_rope_layers")
    return bool(listed[layer]) if listed else (layer + 1) % config.get("no_rope_layer_interval", 4) != 0


def norm(config, x, w, name):
    family = config["model_type"]
    if family == "olmo":
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    if family == "cohere":
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) +
                                                         config.get("layer_norm_eps", 1e-5)) * w[name]
    epsilon = config.get("rms_norm_eps", 1e-5 if family in ("phi3", "olmo2") else 1e-6)
    gain = w[name] + 1 if family in GEMMAS else w[name]
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * gain


def sizes(config):
    heads = config["num_attention_heads"]
    default = 256 if config["model_type"] in GEMMAS else 128 if config["model_type"] == "qwen3" \
        else config["hidden_size"] // heads
    return heads, config["num_key_value_heads"], config.get("head_dim", default)


def linear(x, w, name):
    return x @ w[name + ".weight"].T + w.get(name + ".bias", 0.0)


def attention(config, x, w, at, layer):
    """What it adds, and the weights [head, query, key], and keys and values [kv head, position, head_dim]."""
    family, n = config["model_type"], len(x)
    heads, kv_heads, head_dim = sizes(config)
    if family == "phi3":
        q, k, v = np.split(linear(x, w, at + "qkv_proj"), [heads * head_dim, (heads + kv_heads) * head_dim], -1)
    else:
        q, k, v = (linear(x, w, at + part) for part in ("q_proj", "k_proj", "v_proj"))
    if config.get("clip_qkv"):
        q, k, v = (np.clip(part, -config["clip_qkv"], config["clip_qkv"]) for part in (q, k, v))
    if family == "olmo2":
        q, k = norm(config, q, w, at + "q_norm.weight"), norm(config, k, w, at + "k_norm.weight")
    q, k, v = (part.reshape(n, -1, head_dim) for part in (q, k, v))
    if family in ("qwen3", "gemma3_text") or config.get("use_qk_norm"):
        q, k = norm(config, q, w, at + "q_norm.weight"), norm(config, k, w, at + "k_norm.weight")
    q, k, v = (part.transpose(1, 0, 2) for part in (q, k, v))
    kind = layer_types(config)[layer]
    if has_rotary(config, layer):
        q, k = (rotate(part, config, kind, family == "cohere") for part in (q, k))
    scale = (config.get("query_pre_attn_scalar", 256) if family in ("gemma2", "gemma3_text") else head_dim) ** -0.5
    scores = q @ np.repeat(k, heads // kv_heads, 0).transpose(0, 2, 1) * scale
    cap = config.get("attn_logit_softcapping", 50.0 if family == "gemma2" else None)
    if cap:
        scores = cap * np.tanh(scores / cap)
    distance = np.arange(n)[:, None] - np.arange(n)[None]
    seen = distance >= 0
    if kind == "sliding_attention":
        seen &= distance < window(config)
    scores = np.where(seen, scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    y = (p @ np.repeat(v, heads // kv_heads, 0)).transpose(1, 0, 2).reshape(n, -1)
    return linear(y, w, at + "o_proj"), p, k, v


def mlp(config, x, w, at):
    act = gelu_tanh if config["model_type"] in GEMMAS else silu
    if config["model_type"] == "phi3":
        gate, up = np.split(linear(x, w, at + "gate_up_proj"), 2, -1)
    else:
        gate, up = linear(x, w, at + "gate_proj"), linear(x, w, at + "up_proj")
    return linear(act(gate) * up, w, at + "down_proj")


def block(config, x, w, layer):
    at, family = f"model.layers.{layer}.", config["model_type"]
    normed = lambda values, name: norm(config, values, w, at + name + ".weight")
    if family == "cohere":
        h = normed(x, "input_layernorm")
        a, *seen = attention(config, h, w, at + "self_attn.", layer)
        return x + a + mlp(config, h, w, at + "mlp."), seen
    a, *seen = attention(config, x if family == "olmo2" else normed(x, "input_layernorm"), w, at + "self_attn.", layer)
    if family in ("gemma2", "gemma3_text", "olmo2"):
        x = x + normed(a, "post_attention_layernorm")
        h = x if family == "olmo2" else normed(x, "pre_feedforward_layernorm")
        return x + normed(mlp(config, h, w, at + "mlp."), "post_feedforward_layernorm"), seen
    x = x + a
    return x + mlp(config, normed(x, "post_attention_layernorm"), w, at + "mlp."), seen


def forward(config, w, ids):
    x = w["model.embed_tokens.weight"][ids]
    if config["model_type"] in GEMMAS:
        x = x * config["hidden_size"] ** 0.5
    hidden, seen = [x], []
    for layer in range(config["num_hidden_layers"]):
        x, what = block(config, x, w, layer)
        hidden.append(x)
        seen.append(what)
    hidden[-1] = norm(config, x, w, "model.norm.weight")
    logits = hidden[-1] @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T
    if config["model_type"] == "cohere":
        logits = logits * config.get("logit_scale", 0.0625)
    cap = config.get("final_logit_softcapping", 30.0 if config["model_type"] == "gemma2" else None)
    if cap:
        logits = cap * np.tanh(logits / cap)
    attn, keys, values = (np.stack([what[i] for what in seen]) for i in range(3))
    return logits, {"attn": attn, "hidden": np.stack(hidden), "keys": keys, "values": values}


# ---- making them

def random_weights(config, rng):
    family, d, f, v = (config[key] for key in ("model_type", "hidden_size", "intermediate_size", "vocab_size"))
    heads, kv_heads, head_dim = sizes(config)
    q, kv = heads * head_dim, kv_heads * head_dim
    tied = config.get("tie_word_embeddings", family in TIED)
    # Small ones where the head is tied: else each token is followed by itself.
    w = {"model.embed_tokens.weight": rng.normal(size=(v, d)) * (0.08 if family in GEMMAS else 0.25 if tied else 1.0)}

    def add_linear(name, out, into, bias, strength=1.0):
        w[name + ".weight"] = rng.normal(size=(out, into)) * strength / into**0.5
        if bias:
            w[name + ".bias"] = rng.normal(size=out) * 0.3

    def add_norm(name, shape):
        if family != "olmo":
            w[name + ".weight"] = rng.normal(size=shape) * 0.3 + (0 if family in GEMMAS else 1)

    biased = config.get("attention_bias", False)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        if family == "phi3":
            add_linear(at + "self_attn.qkv_proj", q + 2 * kv, d, False, 1.6)
            add_linear(at + "mlp.gate_up_proj", 2 * f, d, False)
        else:
            for part, out, strength in (("q_proj", q, 2.0), ("k_proj", kv, 2.0), ("v_proj", kv, 1.0)):
                add_linear(at + "self_attn." + part, out, d, biased or family == "qwen2", strength)
            for part in ("gate_proj", "up_proj"):
                add_linear(at + "mlp." + part, f, d, config.get("mlp_bias", False))
        add_linear(at + "self_attn.o_proj", d, q, biased)
        add_linear(at + "mlp.down_proj", d, f, config.get("mlp_bias", False))
        names = {"olmo2": [], "cohere": ["input_"]}.get(family, ["input_", "post_attention_"])
        if family in ("gemma2", "gemma3_text"):
            names = names + ["pre_feedforward_", "post_feedforward_"]
        if family == "olmo2":
            names = ["post_attention_", "post_feedforward_"]
        for name in names:
            add_norm(at + name + "layernorm", d)
        if family in ("qwen3", "gemma3_text", "olmo2") or config.get("use_qk_norm"):
            own = config.get("use_qk_norm")
            for part, n in (("q_norm", heads), ("k_norm", kv_heads)):
                add_norm(at + "self_attn." + part,
                         (n, head_dim) if own else n * head_dim if family == "olmo2" else head_dim)
    add_norm("model.norm", d)
    if not tied:
        w["lm_head.weight"] = rng.normal(size=(v, d)) * 3 / d**0.5
    return {name: array.astype(np.float32) for name, array in w.items()}


def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, array in sorted(arrays.items()):
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": "I64" if array.dtype == np.int64 else "F32", "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def make(name, config):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    stored = random_weights(config, rng)
    w = {key: array.astype(np.float64) for key, array in stored.items()}
    expected = {}
    for n in (7, 33):
        ids = rng.integers(3, config["vocab_size"], n)
        logits, places = forward(config, w, ids)
        expected[f"n{n}.input_ids"], expected[f"n{n}.logits"] = ids, logits
        expected.update({f"n{n}.{place}": values for place, values in places.items() if place in ("attn", "hidden")})
    text = list(rng.integers(3, config["vocab_size"], 5))
    expected["gen.prompt"], steps, gap = np.array(text), [], math.inf
    for _ in range(20):
        steps.append(forward(config, w, np.array(text))[0][-1])
        best = np.sort(steps[-1])
        gap = min(gap, best[-1] - best[-2])
        text.append(int(np.argmax(steps[-1])))
    expected["gen.tokens"], expected["gen.logits"] = np.array(text[5:]), np.stack(steps)
    folder = pathlib.Path(__file__).parent / "models" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    write_safetensors(folder / "model.safetensors", stored)
    write_safetensors(folder / "expected.safetensors", {
        key: array.astype(np.int64 if array.dtype.kind == "i" else np.float32) for key, array in expected.items()})
    spread = expected["n33.attn"].max(-1).mean()
    print(f"{name:24} smallest gap of greedy logits {gap:.1e}, mean largest weight {spread:.2f}, "
          f"different tokens {len(set(text[5:]))}")
    if gap < 1e-3:
        print(f"{name}: the gap is too small to ask for equal ids", file=sys.stderr)


def read_safetensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    kinds = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
    arrays = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            arrays[name] = np.frombuffer(raw[begin:end], kinds[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def check(folder):
    config = json.loads((folder / "config.json").read_text())
    w = {name: array.astype(np.float64) for name, array in read_safetensors(folder / "model.safetensors").items()}
    exact = folder / "expected-f64.safetensors"
    expected = read_safetensors(exact if exact.exists() else folder / "expected.safetensors")
    ids = read_safetensors(folder / "expected.safetensors")["n33.input_ids"]
    logits, places = forward(config, w, ids)
    differences = {place: abs(values - expected["n33." + place]).max()
                   for place, values in dict(places, logits=logits).items() if "n33." + place in expected}
    print(f"{folder.name:24}", ", ".join(f"{place} {most:.1e}" for place, most in sorted(differences.items())))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        for folder in sys.argv[2:]:
            check(pathlib.Path(folder))
    else:
        for wanted in sys.argv[1:] or CONFIGS:
            make(wanted, CONFIGS[wanted])
