#!/usr/bin/env python3
"""Compares `qkv score` with a computation of its own: a Llama's forward pass in numpy, in double.

    check_score.py QKV MODEL [BYTES [WINDOW [STRIDE]]]
        MODEL: a Llama in Hugging Face layout, weights in f32
    check_score.py --golden QKV MODEL
        writes what tests/inspect/score_test.cpp expects, to standard output

The text is stories by scripts/nursery, numbers 1, 2, 3 and so on, cut after BYTES (200000). Ids come from qkv, the rest
from here. Every window is run from its start, without kept keys and values. Ends with 1 when the two differ.
"""
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "nursery"))
import make_corpus  # noqa: E402

TOLERANCE = 1e-3  # relative, of the perplexity


def text_of(size):
    stories, length, number = [], 0, 1
    while length < size:
        stories.append(make_corpus.story(number) + "\n\n")
        length += len(stories[-1].encode())
        number += 1
    return "".join(stories).encode()[:size].decode(errors="ignore")


class Llama:
    """As "LLaMA: Open and Efficient Foundation Language Models" (Touvron et al., 2023) describes it."""

    def __init__(self, directory):
        directory = pathlib.Path(directory)
        self.config = json.loads((directory / "config.json").read_text())
        data = (directory / "model.safetensors").read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        self.weights = {}
        for name, entry in json.loads(data[8:start]).items():
            if name == "__metadata__":
                continue
            assert entry["dtype"] == "F32", entry
            first, end = entry["data_offsets"]
            numbers = np.frombuffer(data[start + first:start + end], "<f4")
            self.weights[name] = numbers.reshape(entry["shape"]).astype(np.float64)

    def norm(self, x, name):
        mean = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(mean + self.config["rms_norm_eps"]) * self.weights[name + ".weight"]

    def rotate(self, x):
        """x [n, heads, K]: the first half of a head is turned with the second."""
        n, _, width = x.shape
        rates = self.config.get("rope_theta", 10000.0) ** (-np.arange(0, width, 2) / width)
        angles = np.arange(n)[:, None] * rates[None, :]
        cos, sin = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
        a, b = x[..., :width // 2], x[..., width // 2:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def attention(self, x, layer):
        n, heads = len(x), self.config["num_attention_heads"]
        kv_heads = self.config.get("num_key_value_heads", heads)
        name = f"model.layers.{layer}.self_attn."
        q, k, v = (x @ self.weights[name + part + "_proj.weight"].T for part in "qkv")
        q, k, v = q.reshape(n, heads, -1), k.reshape(n, kv_heads, -1), v.reshape(n, kv_heads, -1)
        q, k = self.rotate(q), self.rotate(k)
        k, v = np.repeat(k, heads // kv_heads, axis=1), np.repeat(v, heads // kv_heads, axis=1)
        q, k, v = (part.transpose(1, 0, 2) for part in (q, k, v))  # [heads, n, K]
        hidden = np.triu(np.full((n, n), -np.inf), 1)
        blended = []
        for head in range(heads):  # one at a time, which stays in the cache
            weights = q[head] @ k[head].T / math.sqrt(q.shape[-1]) + hidden
            weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
            blended.append(weights @ v[head] / weights.sum(axis=-1, keepdims=True))
        return np.concatenate(blended, axis=-1) @ self.weights[name + "o_proj.weight"].T

    def logits(self, ids):
        x = self.weights["model.embed_tokens.weight"][ids]
        for layer in range(self.config["num_hidden_layers"]):
            name = f"model.layers.{layer}."
            x = x + self.attention(self.norm(x, name + "input_layernorm"), layer)
            y = self.norm(x, name + "post_attention_layernorm")
            gate = y @ self.weights[name + "mlp.gate_proj.weight"].T
            up = y @ self.weights[name + "mlp.up_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ self.weights[name + "mlp.down_proj.weight"].T
        x = self.norm(x, "model.norm")
        return x @ self.weights.get("lm_head.weight", self.weights["model.embed_tokens.weight"]).T


def logprobs(model, ids, window, stride):
    """The usual sliding evaluation; NaN for the first token."""
    ids = np.array(ids)
    result = np.full(len(ids), np.nan)
    scored = 1
    for begin in range(0, len(ids), stride):
        end = min(begin + window, len(ids))
        logits = model.logits(ids[begin:end])
        top = logits.max(axis=-1, keepdims=True)
        log_softmax = logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
        where = np.arange(scored, end)
        result[where] = log_softmax[where - 1 - begin, ids[where]]
        scored = end
        if end == len(ids):
            return result


def perplexity(scores):
    return math.exp(-math.fsum(scores[1:]) / (len(scores) - 1))


def ours(qkv, directory, text, window, stride):
    run = subprocess.run([qkv, "score", "-q", "-m", directory, "--format", "json", "--window", str(window), "--stride",
                          str(stride)], input=text.encode(), capture_output=True, check=True)
    return json.loads(run.stdout)


def golden(qkv, directory):
    text = text_of(700)
    ids = [token["id"] for token in ours(qkv, directory, text, 512, 256)["tokens"]]
    model = Llama(directory)
    runs = []
    for window, stride in ((512, 256), (64, 32), (48, 47), (32, 8)):
        scores = logprobs(model, ids, window, stride)
        runs.append({"window": window, "stride": stride, "perplexity": perplexity(scores),
                     "logprobs": [round(float(score), 7) for score in scores[1:]]})
    print(json.dumps({"text": text, "ids": ids, "runs": runs}))


def main(qkv, directory, size=200000, window=0, stride=0):
    text = text_of(int(size))
    model = Llama(directory)
    window = int(window) or model.config["max_position_embeddings"]
    stride = int(stride) or window // 2
    found = ours(qkv, directory, text, window, stride)
    expected = logprobs(model, [token["id"] for token in found["tokens"]], window, stride)
    difference = max(abs(token["logprob"] - score) for token, score in zip(found["tokens"][1:], expected[1:]))
    reference = perplexity(expected)
    relative = abs(found["summary"]["perplexity"] - reference) / reference
    print(f"window {window}, stride {stride}: {len(expected)} tokens, perplexity {found['summary']['perplexity']:.9f} "
          f"(qkv) {reference:.9f} (numpy), relative difference {relative:.1e}; log-probability of a token at most "
          f"{difference:.1e} apart")
    return 0 if relative < TOLERANCE else 1


if __name__ == "__main__":
    if sys.argv[1] == "--golden":
        golden(*sys.argv[2:])
    else:
        sys.exit(main(*sys.argv[1:]))
