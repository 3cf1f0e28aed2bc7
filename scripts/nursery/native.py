"""The native model directory: config.json, tokenizer.json, and one headerless file per tensor."""
import json
import pathlib

import numpy as np


def shapes(c):
    """Name and shape of every tensor, in the order of the computation."""
    d, f, v = c["d_model"], c["mlp"]["d_ff"], c["n_vocab"]
    q = c["attention"]["n_heads"] * c["attention"]["head_dim"]
    kv = c["attention"]["n_kv_heads"] * c["attention"]["head_dim"]
    out = {"embedding.tokens": (v, d)}
    for n in range(c["n_layers"]):
        block = {"attn_norm.gain": (d,), "attn_norm.bias": (d,),
                 "attn.W_q": (q, d), "attn.b_q": (q,), "attn.W_k": (kv, d), "attn.b_k": (kv,),
                 "attn.W_v": (kv, d), "attn.b_v": (kv,), "attn.W_o": (d, q), "attn.b_o": (d,),
                 "mlp_norm.gain": (d,), "mlp_norm.bias": (d,),
                 "mlp.W_in": (f, d), "mlp.b_in": (f,), "mlp.W_out": (d, f), "mlp.b_out": (d,)}
        out.update({f"blocks.{n}.{name}": shape for name, shape in block.items()})
    out.update({"final_norm.gain": (d,), "final_norm.bias": (d,)})
    return out


def write(directory, config, tensors):
    """Weights as little-endian f32; returns their size in bytes."""
    root = pathlib.Path(directory)
    (root / "weights").mkdir(parents=True, exist_ok=True)
    wanted = shapes(config)
    assert {n: t.shape for n, t in tensors.items()} == wanted, set(tensors) ^ set(wanted)
    for old in (root / "weights").iterdir():
        if old.stem not in wanted or old.suffix != ".f32":
            old.unlink()
    for name in wanted:
        (root / "weights" / (name + ".f32")).write_bytes(np.ascontiguousarray(tensors[name], "<f4").tobytes())
    (root / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return sum(4 * t.size for t in tensors.values())


def read(directory):
    """The configuration and {name: float32 array}."""
    root = pathlib.Path(directory)
    config = json.loads((root / "config.json").read_text(encoding="utf-8"))
    tensors = {}
    for name, shape in shapes(config).items():
        tensors[name] = np.frombuffer((root / "weights" / (name + ".f32")).read_bytes(), "<f4").reshape(shape)
    return config, tensors
