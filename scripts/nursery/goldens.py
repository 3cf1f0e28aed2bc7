"""What the model must compute, worked out with numpy alone in float64 from the exported files.

    python3 goldens.py MODEL_DIRECTORY OUTPUT_DIRECTORY

Writes OUTPUT_DIRECTORY/nursery.safetensors. For each case: input_ids [n], logits [n, V],
attn [layer, head, query, key], and greedy [40], the likeliest ids one after the other
(generation does not stop at the end token).
"""
import json
import math
import pathlib
import struct
import sys

import numpy as np

import native
from bpe import Tokenizer

CASES = {
    "dog": "The dog chased the ball but could not catch it.",
    "once": "Once upon a time",
    "gift": "Tom gave Mia the pear because she",
}


def norm(x, w, name, epsilon):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return x * w[name + ".gain"] + w[name + ".bias"]


def rotate(x, theta):
    """Rotary positions, component i with i + n / 2, for x [head, position, n]."""
    n, half = x.shape[-1], x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] * theta ** (-np.arange(0, n, 2) / n)[None]
    cos, sin = np.cos(angle), np.sin(angle)
    one, two = x[..., :half], x[..., half:]
    return np.concatenate([one * cos - two * sin, two * cos + one * sin], -1)


def attention(x, w, at, config):
    """What the attention of one layer adds, and its weights [head, query, key]."""
    n, a = len(x), config["attention"]

    def project(part):
        y = x @ w[f"{at}.W_{part}"].T + w[f"{at}.b_{part}"]
        return y.reshape(n, -1, a["head_dim"]).transpose(1, 0, 2)

    theta = config["position"]["theta"]
    q, k, v = rotate(project("q"), theta), rotate(project("k"), theta), project("v")
    s = q @ k.transpose(0, 2, 1) * a["scale"]
    s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    y = (p @ v).transpose(1, 0, 2).reshape(n, -1)
    return y @ w[at + ".W_o"].T + w[at + ".b_o"], p


def mlp(x, w, at):
    y = x @ w[at + ".W_in"].T + w[at + ".b_in"]
    y = 0.5 * y * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y ** 3)))
    return y @ w[at + ".W_out"].T + w[at + ".b_out"]


def forward(w, config, ids):
    """Logits [n, V] and attention weights [layer, head, query, key]."""
    epsilon, seen = config["norm"]["epsilon"], []
    x = w["embedding.tokens"][ids]
    for n in range(config["n_layers"]):
        at = f"blocks.{n}."
        y, p = attention(norm(x, w, at + "attn_norm", epsilon), w, at + "attn", config)
        seen.append(p)
        x = x + y
        x = x + mlp(norm(x, w, at + "mlp_norm", epsilon), w, at + "mlp")
    return norm(x, w, "final_norm", epsilon) @ w["embedding.tokens"].T, np.stack(seen)


def greedy(w, config, ids, count=40):
    ids = list(ids)
    for _ in range(count):
        ids.append(int(forward(w, config, ids)[0][-1].argmax()))
    return ids[-count:]


def write_safetensors(path, tensors):
    """Header length, JSON header padded with spaces to 8 bytes, then the raw tensors."""
    header, raw = {}, b""
    for name, t in tensors.items():
        data = t.astype("<i8" if t.dtype.kind == "i" else "<f4").tobytes()
        header[name] = {"dtype": "I64" if t.dtype.kind == "i" else "F32", "shape": list(t.shape), "data_offsets": [len(raw), len(raw) + len(data)]}
        raw += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + raw)


def main():
    directory, output = sys.argv[1], pathlib.Path(sys.argv[2])
    config, tensors = native.read(directory)
    w = {name: t.astype(np.float64) for name, t in tensors.items()}
    tokenizer, out = Tokenizer(directory + "/tokenizer.json"), {}
    for case, text in CASES.items():
        ids = [tokenizer.end] + tokenizer.encode(text)
        logits, attn = forward(w, config, ids)
        out[case + ".input_ids"] = np.array(ids)
        out[case + ".logits"], out[case + ".attn"] = logits, attn
        out[case + ".greedy"] = np.array(greedy(w, config, ids))
        print(case, ids, "->", repr(tokenizer.decode(out[case + ".greedy"])))
    output.mkdir(parents=True, exist_ok=True)
    path = output / "nursery.safetensors"
    write_safetensors(path, out)
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
