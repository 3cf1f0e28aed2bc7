"""The transformer in plain torch: pre-LayerNorm, rotary positions, tanh GELU, tied head.

Parameters bear the names and the orientation ([out, in]) of the native model directory, so
that exporting is a matter of writing the tensors down, and a checkpoint carries the
config.json it will be exported with.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

# Where training starts, found by short trials: with these, names are copied from the story
# after some 250 steps; without, not after 700.
EMBED = 0.08  # large enough that tokens used alike stay apart
COPY = 0.3  # how strongly a head passes on what it sees
BACK = 3.0  # how sharply the first head looks at the token before


def make_config(n_vocab, n_layers=5, d_model=128, n_heads=4, d_ff=512, n_ctx=256, theta=1000.0):
    """config.json of a native model directory, every choice spelled out."""
    width = d_model // n_heads
    return {
        "model_type": "qkv", "format_version": 1, "name": "nursery",
        "n_layers": n_layers, "d_model": d_model, "n_vocab": n_vocab, "n_ctx": n_ctx,
        "position": {"kind": "rotary", "theta": theta, "n_rotated": width, "layout": "halves", "scaling": {"kind": "none"}},
        "norm": {"kind": "layer", "epsilon": 1e-5, "bias": True},
        "attention": {"n_heads": n_heads, "n_kv_heads": n_heads, "head_dim": width, "scale": 1 / math.sqrt(width),
                      "scale_divided_by_layer": False, "bias_q": True, "bias_k": True, "bias_v": True, "bias_o": True},
        "mlp": {"kind": "plain", "activation": "gelu_tanh", "d_ff": d_ff, "bias_in": True, "bias_out": True},
        "residual": "sequential", "embedding_scale": 1.0, "logit_scale": 1.0,
        "head": {"tied": True, "bias": False},
        "tokens": {"bos": 0, "eos": [0]},
    }


def matrix(n_out, n_in, std=0.02):
    return nn.Parameter(torch.randn(n_out, n_in) * std)


def zeros(n):
    return nn.Parameter(torch.zeros(n))


class Norm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.gain, self.bias, self.epsilon = nn.Parameter(torch.ones(width)), zeros(width), epsilon

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.gain, self.bias, self.epsilon)


def rotation(length, config):
    """Cosines and sines [length, n] of every position; component i turns with i + n / 2."""
    p = config["position"]
    n = p["n_rotated"]
    rate = p["theta"] ** (-torch.arange(0, n, 2) / n)
    angle = (torch.arange(length)[:, None] * rate[None]).repeat(1, 2)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def look_back(c):
    """Query and key biases with which the first head of layer 0 looks at the token before.

    The biases, turned like the rest, give a head a view of nothing but distance.
    Only the four fastest pairs of components are used. Found early, such a head lets the ones
    that copy come early too; from here on it is trained like all the rest.
    """
    n = c["attention"]["head_dim"]
    cos, sin = rotation(2, c)
    query, key = torch.zeros(c["d_model"]), torch.zeros(c["d_model"])
    fast = torch.arange(4)
    key[fast] = BACK
    query[fast], query[fast + n // 2] = BACK * cos[1, :4], -BACK * sin[1, :4]
    return query, key


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, self.heads, self.scale = c["d_model"], c["attention"]["n_heads"], c["attention"]["scale"]
        self.W_q, self.W_k, self.W_v = matrix(d, d), matrix(d, d), matrix(d, d)
        # All heads together begin by passing on what they see as it is: with a tied head they
        # then make the words seen so far likelier, and can soon learn to copy the right one.
        nn.init.orthogonal_(self.W_v)
        self.W_o = nn.Parameter(self.W_v.detach().t() * COPY)
        self.b_q, self.b_k, self.b_v, self.b_o = zeros(d), zeros(d), zeros(d), zeros(d)

    def forward(self, x, turn, mask, keep=None):
        b, t, d = x.shape
        weight, bias = torch.cat([self.W_q, self.W_k, self.W_v]), torch.cat([self.b_q, self.b_k, self.b_v])
        q, k, v = F.linear(x, weight, bias).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = rotate(q, *turn) * self.scale, rotate(k, *turn)
        p = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) + mask, dim=-1)
        if keep is not None:
            keep.append(p.detach().float())
        return F.linear(torch.matmul(p, v).transpose(1, 2).reshape(b, t, d), self.W_o, self.b_o)


class Gelu(torch.autograd.Function):
    """The tanh approximation of GELU, written as x times a logistic function.

    torch's own takes a quarter of a training step on a processor, this a third of that.
    """

    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x * (2 * math.sqrt(2 / math.pi) * (1 + 0.044715 * x * x)))
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, gradient):
        x, s = ctx.saved_tensors
        return gradient * (s + x * s * (1 - s) * (2 * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, f = c["d_model"], c["mlp"]["d_ff"]
        self.W_in, self.b_in = matrix(f, d), zeros(f)
        self.W_out, self.b_out = matrix(d, f, 0.02 / math.sqrt(2 * c["n_layers"])), zeros(d)

    def forward(self, x):
        return F.linear(Gelu.apply(F.linear(x, self.W_in, self.b_in)), self.W_out, self.b_out)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        epsilon = c["norm"]["epsilon"]
        self.attn_norm, self.attn = Norm(c["d_model"], epsilon), Attention(c)
        self.mlp_norm, self.mlp = Norm(c["d_model"], epsilon), MLP(c)

    def forward(self, x, turn, mask, keep=None):
        x = x + self.attn(self.attn_norm(x), turn, mask, keep)
        return x + self.mlp(self.mlp_norm(x))


class Transformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        c = self.config = config
        self.embedding = nn.Module()
        self.embedding.tokens = matrix(c["n_vocab"], c["d_model"], EMBED)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c["n_layers"])])
        first = self.blocks[0].attn
        first.b_q.data, first.b_k.data = look_back(c)
        self.final_norm = Norm(c["d_model"], c["norm"]["epsilon"])
        cos, sin = rotation(c["n_ctx"], c)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.register_buffer("causal", torch.full((c["n_ctx"], c["n_ctx"]), -1e4).triu(1), persistent=False)

    def forward(self, ids, keep=None, apart=None):
        """Logits. With apart [batch, t, t], positions where it is true may not see each other."""
        t = ids.shape[1]
        x = F.embedding(ids, self.embedding.tokens)
        half = torch.is_autocast_cpu_enabled()
        kind = torch.bfloat16 if half else x.dtype
        turn = self.cos[:t].to(kind), self.sin[:t].to(kind)
        mask = self.causal[:t, :t] if apart is None else self.causal[:t, :t] + apart[:, None] * -1e4
        mask = mask.to(kind)
        for block in self.blocks:
            x = block(x, turn, mask, keep)
        return F.linear(self.final_norm(x), self.embedding.tokens)
