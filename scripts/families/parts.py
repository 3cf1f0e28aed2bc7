"""What families have in common, in float64: activations, positions, norms, attention."""
import math

import numpy as np


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {
    "gelu_new": gelu_tanh, "gelu_fast": gelu_tanh, "gelu_pytorch_tanh": gelu_tanh,
    "gelu": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def bf16(x):
    """The nearest bf16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits += 0x7FFF + (bits >> 16 & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def slopes(n_heads, largest=8.0):
    """ALiBi: powers of two for a power of two of heads, else filled up with every other slope of twice as many."""
    whole = 2 ** int(math.log2(n_heads))
    first = [2 ** (-largest * (i + 1) / whole) for i in range(whole)]
    rest = [2 ** (-largest * (i + 1) / (2 * whole)) for i in range(2 * whole)][::2]
    return np.array((first + rest)[:n_heads])[:, None, None]


def rotate(x, n_rotated, theta, pairs=False, factor=1.0):
    """x [n, heads, K]: the first n_rotated numbers are turned, i with i + half, or 2i with 2i + 1."""
    angle = np.arange(len(x))[:, None] / factor * theta ** (-np.arange(0, n_rotated, 2) / n_rotated)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    turned, kept = x[..., :n_rotated], x[..., n_rotated:]
    half = n_rotated // 2
    one, two = (turned[..., ::2], turned[..., 1::2]) if pairs else (turned[..., :half], turned[..., half:])
    a, b = one * cos - two * sin, two * cos + one * sin
    turned = np.stack([a, b], -1).reshape(turned.shape) if pairs else np.concatenate([a, b], -1)
    return np.concatenate([turned, kept], -1)


class Run:
    """One text through one model; notes what is to be compared."""

    def __init__(self, config, tensors, roots):
        self.c, self.t = config, tensors
        self.root = next((r for r in roots if any(name.startswith(r) for name in tensors)), "")
        self.attn, self.hidden = [], []

    def at(self, name):
        return self.t[self.root + name] if self.root + name in self.t else self.t.get(name)

    def linear(self, x, name):
        y = x @ self.at(name + ".weight").T
        bias = self.at(name + ".bias")
        return y if bias is None else y + bias

    def norm(self, x, name, epsilon):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
        weight, bias = self.at(name + ".weight"), self.at(name + ".bias")
        x = x if weight is None else x * weight
        return x if bias is None else x + bias

    def rms_norm(self, x, name, epsilon):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * self.at(name + ".weight")

    def attend(self, q, k, v, scale, bias=0.0, bias_scale=1.0, window=None):
        """q [n, H, K], k and v [n, Hkv, K] -> [n, H K]."""
        n, heads = len(q), q.shape[1]
        k, v = (np.repeat(x, heads // x.shape[1], 1).transpose(1, 0, 2) for x in (k, v))
        s = q.transpose(1, 0, 2) @ k.transpose(0, 2, 1) * scale + bias * bias_scale
        seen = np.tri(n, dtype=bool)
        if window:
            seen &= ~np.tri(n, k=-window, dtype=bool)
        s = np.where(seen, s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        self.attn.append(p)
        return (p @ v).transpose(1, 0, 2).reshape(n, -1)

    def mlp(self, x, into, out, activation):
        return self.linear(ACTIVATIONS[activation](self.linear(x, into)), out)

    def finish(self, x, final_norm, epsilon, head, tokens, rms=False):
        norm = self.rms_norm if rms else self.norm
        self.hidden.append(norm(x, final_norm, epsilon) if final_norm else x)
        weight = self.t.get(head + ".weight", self.at(tokens + ".weight"))
        bias = self.t.get(head + ".bias", 0.0)
        return self.hidden[-1] @ weight.T + bias
