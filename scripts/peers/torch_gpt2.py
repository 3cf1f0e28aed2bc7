"""GPT-2 in PyTorch, for scripts/compare: loads a Hugging Face folder, then answers commands, a JSON line each.

    python3 torch_gpt2.py FOLDER THREADS
"""
import json
import math
import re
import sys
import time

import torch
from torch.nn import functional as F

from make_weights import read_model


class Gpt2:
    def __init__(self, folder):
        config, tensors = read_model(folder)
        self.w = {name: torch.tensor(tensor) for name, tensor in tensors.items()}
        for name, tensor in self.w.items():
            if name.startswith("h.") and tensor.dim() == 2:
                self.w[name] = tensor.T.contiguous()  # [out, in], as torch keeps linear layers
        self.n_layers, self.n_heads, self.d_model = (config[key] for key in ("n_layer", "n_head", "n_embd"))
        self.n_ctx, self.epsilon = config["n_positions"], config["layer_norm_epsilon"]
        self.head_dim = self.d_model // self.n_heads
        self.mask = torch.full((self.n_ctx, self.n_ctx), -math.inf).triu(1)
        self.cache = torch.zeros(self.n_layers, 2, self.n_heads, self.n_ctx, self.head_dim)

    def linear(self, x, name):
        weight, bias = self.w[name + ".weight"], self.w[name + ".bias"]
        if len(x) == 1:  # F.linear would pack the whole matrix for a single row, and take twice the time
            return torch.addmv(bias, weight, x[0])[None]
        return F.linear(x, weight, bias)

    def norm(self, x, name):
        return F.layer_norm(x, (self.d_model,), self.w[name + ".weight"], self.w[name + ".bias"], self.epsilon)

    def attend(self, x, layer, past, cached):
        n = len(x)
        qkv = self.linear(x, f"h.{layer}.attn.c_attn").view(n, 3, self.n_heads, self.head_dim).permute(1, 2, 0, 3)
        q, k, v = qkv.unbind()  # [head, token, head_dim]
        if cached:
            self.cache[layer, :, :, past:past + n] = qkv[1:]
            k, v = self.cache[layer, :, :, :past + n].unbind()
        q = q / math.sqrt(self.head_dim)
        if n > 1:  # a single token sees all that came before
            scores = torch.baddbmm(self.mask[past:past + n, :past + n], q, k.transpose(1, 2))
        else:
            scores = q @ k.transpose(1, 2)
        y = (scores.softmax(-1) @ v).transpose(0, 1).reshape(n, self.d_model)
        return self.linear(y, f"h.{layer}.attn.c_proj")

    @torch.inference_mode()
    def forward(self, ids, past=0, cached=False):
        """Runs `ids` after the first `past` tokens and gives the logits of the last position."""
        x = self.w["wte.weight"][ids] + self.w["wpe.weight"][past:past + len(ids)]
        for i in range(self.n_layers):
            x = x + self.attend(self.norm(x, f"h.{i}.ln_1"), i, past, cached)
            inner = F.gelu(self.linear(self.norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
            x = x + self.linear(inner, f"h.{i}.mlp.c_proj")
        return self.w["wte.weight"] @ self.norm(x[-1], "ln_f")

    def generate(self, length, cached):
        ids = torch.tensor([1])
        for i in range(length):
            logits = self.forward(ids[-1:], i, True) if cached else self.forward(ids)
            ids = torch.cat([ids, logits.argmax(keepdim=True)])
        return ids


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def samples(repeats, work):
    """Two to warm up, then `repeats` that count."""
    return [seconds(work) for _ in range(2 + repeats)][2:]


class Worker:
    def __init__(self, folder, threads):
        torch.set_num_threads(threads)
        self.model = Gpt2(folder)

    def about(self):
        with open("/proc/self/maps") as maps:
            blas = re.search("openblas|mkl|blis", maps.read())
        if not blas:
            raise RuntimeError("expected a fast BLAS beneath torch, found none: apt-get install libopenblas0-openmp")
        return f"torch {torch.__version__}, {blas[0]}, threads: {torch.get_num_threads()}"

    def prompt(self, length):
        return torch.arange(length) * 7919 % len(self.model.w["wte.weight"])

    def logits(self, ids, fresh):
        """The logits after `ids`, of which all but the last `fresh` go first."""
        ids, past = torch.tensor(ids), len(ids) - fresh
        if past > 0:
            self.model.forward(ids[:past], 0, True)
        return self.model.forward(ids[past:], past, past > 0).tolist()

    def time(self, workload, length, repeats):
        model = self.model
        if workload == "prompt":
            ids = self.prompt(length)
            return samples(repeats, lambda: model.forward(ids))
        if workload == "cached":
            ids = self.prompt(length + 1)
            model.forward(ids[:-1], 0, True)
            return samples(repeats, lambda: model.forward(ids[-1:], length, True))
        return [seconds(lambda: model.generate(length, workload == "cached_text"))]


def main():
    worker = Worker(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply = {"result": getattr(worker, command.pop("do"))(**command)}
        except Exception as error:  # the driver says what went wrong, and where
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
