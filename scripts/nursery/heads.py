"""What each attention head does, in numbers."""
import json
import re

import numpy as np
import torch


def attend(model, ids):
    """Attention weights as [layer, head, query, key], and logits [token, vocabulary]."""
    seen = []
    with torch.no_grad():
        logits = model(torch.tensor([ids]), seen)
    return torch.stack([a[0] for a in seen]).numpy(), logits[0]


def covered(ranges, start, end):
    """The tokens that overlap with a character range."""
    return [i for i, (a, b) in enumerate(ranges) if a < end and b > start]


def pronouns(model, tokenizer, pairs):
    """Attention from the pronoun to its referent and to the distractor, per kind of pair.

    All mentions before the pronoun count together. Returns {kind: [layer, head, (referent, distractor, share won)]}.
    """
    sums = {}
    for p in pairs:
        ids, ranges = tokenizer.spans(p["prefix"])
        a, _ = attend(model, [tokenizer.end] + ids)
        at = [1 + covered(ranges, *p["pronoun"])[-1]]
        for name in ("referent", "distractor"):
            word = p["prefix"][slice(*p[name])]
            places = [m.span() for m in re.finditer(r"\b%s\b" % re.escape(word), p["prefix"][: p["pronoun"][0]], re.I)]
            at.append(sorted({1 + i for place in places for i in covered(ranges, *place)}))
        right, wrong = (a[:, :, at[0], t].sum(-1) for t in at[1:])
        sums.setdefault(p["kind"], []).append(np.stack([right, wrong, right > wrong], -1))
    return {k: np.mean(v, 0) for k, v in sums.items()}


def previous(model, ids, count=200):
    """Mean attention to the token just before, and to the very first one, over whole held-out stories."""
    ends = np.flatnonzero(ids == 0)
    before, first = [], []
    for start, stop in list(zip(ends, ends[1:]))[:count]:
        a, _ = attend(model, [int(i) for i in ids[start:stop]])
        q = np.arange(2, stop - start)
        before.append(a[:, :, q, q - 1].mean(-1))
        first.append(a[:, :, q, 0].mean(-1))
    return np.mean(before, 0), np.mean(first, 0)


def copied(model, ids, one, two, n):
    """ids[one: one + n] comes again at two: attention to the token after the earlier copy, losses, hits.

    The first token of a copy cannot be known, so it is not counted.
    """
    a, logits = attend(model, ids)
    q = np.arange(n - 1)
    lp = torch.log_softmax(logits.float(), -1)
    losses = [np.mean([-lp[at + k, ids[at + k + 1]].item() for k in q]) for at in (one, two)]
    right = np.mean([int(lp[two + k].argmax()) == ids[two + k + 1] for k in q])
    return a[:, :, two + q, one + q + 1].mean(-1), losses, right


def repeated(model, tokenizer, lines):
    """Each line is said and said again, as in the stories."""
    found = []
    for line in lines:
        inner = tokenizer.encode(line + ".")
        ids = [tokenizer.end] + tokenizer.encode('Mia said: "') + inner + tokenizer.encode('" Tom said: "') + inner
        one = len(tokenizer.encode('Mia said: "')) + 1
        found.append(copied(model, ids, one, len(ids) - len(inner), len(inner)))
    return tuple(np.mean([f[k] for f in found], 0) for k in range(3))


def random_twice(model, pool, length=40, count=24, seed=7):
    """Tokens drawn at random from the pool, the same row twice."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        half = [int(i) for i in rng.choice(pool, length)]
        found.append(copied(model, [0] + half + half, 1, 1 + length, length))
    return tuple(np.mean([f[k] for f in found], 0) for k in range(3))


def load_pairs(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def best(scores):
    layer, head = np.unravel_index(np.argmax(scores), scores.shape)
    return int(layer), int(head), float(scores[layer, head])
