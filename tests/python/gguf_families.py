"""Every family that GGUF has: checkpoints in Hugging Face layout are put into GGUF as llama.cpp's converter does it,
and both must give the same logits. What GGUF has no key for is taken out of both.

    gguf_families.py QKV FOLDER...     each folder holds checkpoints, one a subfolder
"""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy

QKV = sys.argv[1]
IDS = "1,7,3,7,9,30,2,5,11,20,3,7,9,1,8,4,4,17"
TOLERANCE = 2e-5

# Where Hugging Face's names end up. A number stands for the block.
NAMES = [(re.compile(pattern + "$"), name) for pattern, name in {
    r"(model\.|transformer\.|gpt_neox\.)?(embed_tokens|wte|word_embeddings|embed_in)": "token_embd",
    r"(transformer\.)?wpe": "position_embd",
    r"(transformer\.)?word_embeddings_layernorm": "token_embd_norm",
    r"(model\.|transformer\.|gpt_neox\.)?(norm|norm_f|ln_f|final_layernorm|final_layer_norm)": "output_norm",
    r"lm_head|embed_out": "output",
    r"B(input_layernorm|ln_1|norm_1|ln_mlp)": "attn_norm",
    r"Bln_attn": "attn_norm_2",
    r"B(self_attn\.q_proj)": "attn_q",
    r"B(self_attn\.k_proj)": "attn_k",
    r"B(self_attn\.v_proj)": "attn_v",
    r"B(self_attn\.qkv_proj|attn\.c_attn|attn\.Wqkv|self_attention\.query_key_value|attention\.query_key_value)":
        "attn_qkv",
    r"B(self_attn\.o_proj|self_attn\.dense|attn\.c_proj|attn\.out_proj|self_attention\.dense|attention\.dense)":
        "attn_output",
    r"Bself_attn\.q_norm": "attn_q_norm",
    r"Bself_attn\.k_norm": "attn_k_norm",
    r"B(ln_2|norm_2)": "ffn_norm",
    r"B(mlp\.up_proj|mlp\.gate_up_proj|mlp\.c_fc|mlp\.fc1|ffn\.up_proj|mlp\.dense_h_to_4h)": "ffn_up",
    r"Bmlp\.gate_proj": "ffn_gate",
    r"B(mlp\.down_proj|mlp\.c_proj|mlp\.fc2|ffn\.down_proj|mlp\.dense_4h_to_h)": "ffn_down",
    r"Bpre_feedforward_layernorm": "ffn_norm",
    r"Bpost_feedforward_layernorm": "post_ffw_norm",
}.items()]
BLOCK = re.compile(r"(?:model\.|transformer\.|gpt_neox\.)?(?:layers|h|blocks)\.(\d+)\.(.*)$")

# The architecture, and whether the rows of W_q and W_k become pairs.
ARCHITECTURES = {
    "llama": ("llama", True), "mistral": ("llama", True), "gpt2": ("gpt2", False), "qwen2": ("qwen2", False),
    "qwen3": ("qwen3", False), "smollm3": ("smollm3", True), "phi": ("phi2", False), "phi3": ("phi3", False),
    "gemma": ("gemma", False), "gemma2": ("gemma2", False), "gemma3_text": ("gemma3", False),
    "olmo": ("olmo", True), "olmo2": ("olmo2", False), "cohere": ("command-r", False),
    "stablelm": ("stablelm", False), "gpt_neox": ("gptneox", False), "bloom": ("bloom", False),
    "falcon": ("falcon", False), "mpt": ("mpt", False), "gpt_bigcode": ("starcoder", False),
    "starcoder2": ("starcoder2", False), "granite": ("granite", True),
}
BUFFERS = re.compile(r"(\.(attn|attention)\.(bias|masked_bias)|\.inv_freq)$")
WITH_LAYER_NORM = ("gpt2", "gpt_neox", "bloom", "falcon", "mpt", "cohere", "olmo", "phi", "stablelm", "starcoder2",
                   "gpt_bigcode")


def tensors_of(folder):
    """The arrays of a folder's .safetensors files as float32, read by hand."""
    tensors = {}
    for path in sorted(folder.glob("model*.safetensors")):
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        body = data[8 + length:]
        for name, entry in json.loads(data[8: 8 + length]).items():
            if name == "__metadata__" or BUFFERS.search(name):
                continue
            raw = body[slice(*entry["data_offsets"])]
            if entry["dtype"] == "BF16":
                array = (numpy.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
            else:
                array = numpy.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]).astype("<f4")
            tensors[name] = array.reshape(entry["shape"])
    return tensors


def find(config, *names, default=None):
    for name in names:
        if config.get(name) is not None:
            return config[name]
    return default


def stored_name(name, norm_after):
    stem, ending = name.rsplit(".", 1)
    block = BLOCK.match(stem)
    text = "B" + block[2] if block else stem
    if text == "Bpost_attention_layernorm":
        found = "post_attention_norm" if norm_after else "ffn_norm"
    else:
        found = next(new for pattern, new in NAMES if pattern.match(text))
    return f"blk.{block[1]}.{found}.{ending}" if block else f"{found}.{ending}"


def to_pairs(array, n_heads):
    """Halves of each head to pairs, rows or numbers of a bias."""
    return array.reshape(n_heads, 2, len(array) // n_heads // 2, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)


def ungrouped(array, n_heads, n_kv_heads):
    """The queries, the key and the value of each key/value head: to all queries, all keys, all values."""
    grouped = array.reshape(n_kv_heads, n_heads // n_kv_heads + 2, -1, *array.shape[1:])
    parts = grouped[:, :-2], grouped[:, -2], grouped[:, -1]
    return numpy.concatenate([part.reshape(-1, *array.shape[1:]) for part in parts])


class Writer:
    """A GGUF file of version 3."""

    def __init__(self):
        self.keys, self.tensors = [], []

    def key(self, name, value):
        if isinstance(value, bool):
            body = struct.pack("<IB", 7, value)
        elif isinstance(value, int):
            body = struct.pack("<II", 4, value)
        elif isinstance(value, float):
            body = struct.pack("<If", 6, value)
        else:
            body = struct.pack("<I", 8) + self.text(value)
        self.keys.append(self.text(name) + body)

    @staticmethod
    def text(text):
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def write(self, path):
        head, data = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.keys)) + b"".join(self.keys), b""
        for name, array in self.tensors:
            head += self.text(name) + struct.pack("<I", array.ndim)
            head += struct.pack(f"<{array.ndim}Q", *reversed(array.shape)) + struct.pack("<IQ", 0, len(data))
            data += numpy.ascontiguousarray(array, "<f4").tobytes()
            data += bytes(-len(data) % 32)
        path.write_bytes(head + bytes(-len(head) % 32) + data)


def add_keys(writer, config, architecture, kind, tensors):
    def put(part, value):
        if value is not None:
            writer.key(f"{architecture}.{part}", value)

    d_model = find(config, "hidden_size", "n_embd", "d_model", "n_embed")
    n_heads = find(config, "num_attention_heads", "n_head", "n_heads")
    one_kv = config.get("multi_query") and not config.get("new_decoder_architecture")
    n_kv_heads = 1 if one_kv else find({**config.get("attn_config", {}), **config}, "num_key_value_heads",
                                       "num_kv_heads", "kv_n_heads", default=n_heads)
    d_ff = find(config, "intermediate_size", "n_inner", "ffn_hidden_size",
                default=config.get("expansion_ratio", 4) * d_model)
    put("context_length", find(config, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
                               default=2048))
    put("embedding_length", d_model)
    put("feed_forward_length", d_ff)
    put("block_count", find(config, "num_hidden_layers", "n_layer", "n_layers"))
    put("attention.head_count", n_heads)
    put("attention.head_count_kv", n_kv_heads)
    if kind in WITH_LAYER_NORM:
        put("attention.layer_norm_epsilon", find(config, "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon",
                                                 default=1e-5))
    else:
        usual = 1e-5 if kind in ("phi3", "olmo2") else 1e-6
        put("attention.layer_norm_rms_epsilon", find(config, "rms_norm_eps", default=usual))
    put("attention.clamp_kqv", find({**config.get("attn_config", {}), **config}, "clip_qkv"))
    put("attention.key_length", config.get("head_dim"))
    put("attention.value_length", config.get("head_dim"))
    rope = scaling_of(config)
    theta = rope.get("rope_theta")
    put("rope.freq_base", None if theta is None else float(theta))
    head_dim = config.get("head_dim") or d_model // n_heads
    share = find({**rope, **config}, "partial_rotary_factor", "rotary_pct", default=1.0)
    if kind in ("phi", "phi3", "stablelm", "gpt_neox", "llama", "granite"):
        put("rope.dimension_count", int(share * head_dim))
    put("use_parallel_residual", config.get("use_parallel_residual"))
    put("attn_logit_softcapping", config.get("attn_logit_softcapping"))
    put("final_logit_softcapping", config.get("final_logit_softcapping"))
    put("attention.sliding_window", config.get("sliding_window") if not kind.startswith("qwen") else None)
    put("logit_scale", config.get("logit_scale") if kind == "cohere" else config.get("logits_scaling"))
    put("embedding_scale", config.get("embedding_multiplier"))
    put("attention.scale", config.get("attention_multiplier"))
    put("residual_scale", config.get("residual_multiplier"))
    local = (config.get("rope_parameters") or {}).get("sliding_attention", {})
    put("rope.freq_base_swa", find(config, "rope_local_base_freq", default=local.get("rope_theta")))
    put("attention.sliding_window_pattern", config.get("sliding_window_pattern") if kind == "gemma3_text" else None)
    if kind == "falcon":
        put("tensor_data_layout", "jploski")
    if kind == "mpt":
        put("attention.max_alibi_bias", 8.0)
    add_scaling(put, rope, config, theta, head_dim, tensors)
    return n_heads, n_kv_heads


def scaling_of(config):
    """All that a config says of rotary positions (of the layers that see everything), from where it says it."""
    rope = config.get("rope_parameters") or {}
    rope = rope.get("full_attention", rope)
    return {"rope_theta": find(config, "rope_theta", "rotary_emb_base"), **(config.get("rope_scaling") or {}), **rope}


def add_scaling(put, rope, config, theta, head_dim, tensors):
    kind = rope.get("rope_type", rope.get("type"))
    n_ctx = find(config, "max_position_embeddings", "n_positions", default=2048)
    original = find(rope, "original_max_position_embeddings",
                    default=config.get("original_max_position_embeddings", n_ctx))
    if kind in ("linear", "yarn"):
        put("rope.scaling.type", kind)
        put("rope.scaling.factor", float(rope["factor"]))
    if kind == "yarn":
        put("rope.scaling.original_context_length", original)
    if kind == "llama3":
        tensors["rope_freqs.weight"] = llama3_factors(rope, float(theta or 10000.0), head_dim)
    if kind in ("longrope", "su"):
        put("rope.scaling.original_context_length", original)
        put("rope.scaling.attn_factor", float(numpy.sqrt(1 + numpy.log(n_ctx / original) / numpy.log(original))))
        for length in ("short", "long"):
            tensors[f"rope_factors_{length}.weight"] = numpy.array(rope[f"{length}_factor"], "<f4")


def llama3_factors(scaling, theta, head_dim):
    """By what each rate is divided, as the converter computes it."""
    rates = theta ** -(numpy.arange(0, head_dim, 2) / head_dim)
    waves = 2 * numpy.pi / rates
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    n_ctx, factor = scaling["original_max_position_embeddings"], scaling["factor"]
    smooth = (n_ctx / waves - low) / (high - low)
    blended = 1 / ((1 - smooth) / factor + smooth)
    return numpy.where(waves < n_ctx / high, 1.0, numpy.where(waves > n_ctx / low, factor, blended)).astype("<f4")


# What no key of GGUF says, and what is then meant.
MEANT = {"scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": True, "use_sliding_window": False,
         "apply_residual_connection_post_layernorm": False, "layer_types": None, "no_rope_layers": None}
MEANT_OF = {"smollm3": {"no_rope_layer_interval": 4, "sliding_window": None},
            "falcon": {"activation": "gelu"}, "gpt_neox": {"hidden_act": "gelu"},
            "gemma3_text": {"attn_logit_softcapping": None}}
# Forms that llama.cpp has no arithmetic for.
FORMS = {"falcon": {"alibi": True, "parallel_attn": False}, "stablelm": {"qk_layernorm": True},
         "phi": {"qk_layernorm": True}}


def as_gguf_can_say(config):
    """The config without what no key of GGUF says; nothing for what llama.cpp has no architecture for."""
    kind = config.get("model_type") or {"GPT2LMHeadModel": "gpt2"}.get(config["architectures"][0])
    attention = config.get("attn_config", {})
    if kind not in ARCHITECTURES or attention.get("qk_ln") or attention.get("alibi") is False:
        return None
    if any(config.get(name) == value for name, value in FORMS.get(kind, {}).items()):
        return None
    config = {**config, "model_type": kind}
    for name, value in {**MEANT, **MEANT_OF.get(kind, {})}.items():
        if name in config:
            config[name] = value
    if kind == "gemma2" and config.get("attn_logit_softcapping", 1) is None:
        del config["attn_logit_softcapping"]  # it always has one
    if kind in ("gemma2", "gemma3_text"):
        config["query_pre_attn_scalar"] = config["head_dim"]
    if "attn_config" in config:
        config["attn_config"] = {name: value for name, value in attention.items()
                                 if name in ("clip_qkv", "kv_n_heads", "attn_type")}
    for name in ("rope_scaling", "rope_parameters"):
        rope = config.get(name) or {}
        if rope.get("rope_type", rope.get("type")) == "yarn":
            known = ("rope_type", "type", "rope_theta", "factor", "original_max_position_embeddings")
            config[name] = {key: value for key, value in rope.items() if key in known}
    return config


def convert(folder, config, path):
    """Writes a folder's model into GGUF."""
    kind = config["model_type"]
    architecture, pairs = ARCHITECTURES[kind]
    writer, extra = Writer(), {}
    writer.key("general.architecture", architecture)
    n_heads, n_kv_heads = add_keys(writer, config, architecture, kind, extra)
    norm_after = kind in ("gemma2", "gemma3_text", "olmo2")
    tied = config.get("tie_word_embeddings", kind in ("gpt2", "gemma", "gemma2", "gemma3_text", "cohere"))
    for name, array in tensors_of(folder).items():
        stored = stored_name(name, norm_after)
        part = stored.split(".")[-2]
        if pairs and part in ("attn_q", "attn_k"):
            array = to_pairs(array, n_heads if part == "attn_q" else n_kv_heads)
        if kind in ("bloom", "falcon", "gpt_neox") and part == "attn_qkv":
            array = ungrouped(array, n_heads, n_kv_heads)
        if kind == "gpt2" and part in ("attn_qkv", "attn_output", "ffn_up", "ffn_down") and array.ndim == 2:
            array = array.T
        if kind.startswith("gemma") and stored.endswith("norm.weight"):
            array = array + 1
        if stored != "output.weight" or not tied:
            writer.tensors.append((stored, array))
    writer.tensors += extra.items()
    writer.write(path)


def logits(model, directory):
    path = directory / "logits.npy"
    run = subprocess.run([QKV, "attention", "-q", "-m", model, "--ids", IDS, "--what", "logits", "-o", path],
                         capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip()
    return numpy.load(path)


def compare(folder, directory):
    config = as_gguf_can_say(json.loads((folder / "config.json").read_text()))
    if config is None:
        return "not in GGUF"
    published, path = directory / "published", directory / "model.gguf"
    published.mkdir()
    (published / "config.json").write_text(json.dumps(config))
    for file in folder.glob("model*.safetensors*"):
        (published / file.name).symlink_to(file.resolve())
    convert(folder, config, path)
    expected, found = logits(published, directory), logits(path, directory)
    for outcome in (expected, found):
        if isinstance(outcome, str):
            return "FAILED: " + outcome
    difference = float(numpy.abs(expected - found).max() / numpy.abs(expected).max())
    return f"{difference:.1e}" if difference < TOLERANCE else f"FAILED: logits differ by {difference:.1e}"


def main():
    failed = False
    for parent in sys.argv[2:]:
        for folder in sorted(path for path in pathlib.Path(parent).iterdir() if (path / "config.json").exists()):
            with tempfile.TemporaryDirectory() as directory:
                outcome = compare(folder, pathlib.Path(directory))
            print(f"{folder.name:24} {outcome}")
            failed |= outcome.startswith("FAILED")
    sys.exit(failed)


main()
