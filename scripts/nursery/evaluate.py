"""Losses, stories, pronouns and attention heads of an exported model.

    python3 evaluate.py DATA MODEL_DIRECTORY [ROUNDS]     (ROUNDS times 50 stories are drawn, twice unless told)
"""
import collections
import math
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F

import heads
import native
from bpe import END, Tokenizer
from check_corpus import faults
from generate import generate
from model import Transformer
from plots_words import POOL
from story import Story
from train import load

SENTENCE = "The dog chased the ball but could not catch it."
START = "Once upon a time"


def read_model(directory):
    config, tensors = native.read(directory)
    model = Transformer(config)
    model.load_state_dict({n: torch.from_numpy(t.copy()) for n, t in tensors.items()})
    return model.eval()


def text_loss(model, ids, count=400):
    """Mean loss of the tokens of whole stories, each with its end token."""
    ends, total, tokens = np.flatnonzero(ids == 0), 0.0, 0
    for start, stop in list(zip(ends, ends[1:]))[:count]:
        x = torch.from_numpy(ids[start: stop + 1].astype(np.int64))
        with torch.no_grad():
            total += F.cross_entropy(model(x[None, :-1])[0], x[1:], reduction="sum").item()
        tokens += stop - start
    return total / tokens


def report_loss(model, t, data):
    test, train = load(data + "/heldout.txt", t), load(data + "/train.txt", t)
    with open(data + "/heldout.txt", encoding="utf-8") as f:
        chars = sum(len(line) for line in f if line.rstrip("\n") != END)
    held = text_loss(model, test)
    print("loss per token: held-out stories %.4f, training stories %.4f; held-out bits per character %.3f"
          % (held, text_loss(model, train), held * len(test) / chars / math.log(2)))
    return test


def continuation(model, t, prefix, text):
    ids, more = [t.end] + t.encode(prefix), t.encode(text)
    with torch.no_grad():
        lp = torch.log_softmax(model(torch.tensor([ids + more]))[0].float(), -1)
    return [lp[len(ids) + k - 1, i].item() for k, i in enumerate(more)]


def report_pairs(model, t, pairs):
    score = collections.defaultdict(list)
    for p in pairs:
        a, b = (continuation(model, t, p["prefix"], p[k]) for k in ("right", "wrong"))
        score[p["kind"]].append((np.mean(a) > np.mean(b), sum(a) > sum(b), a[0] > b[0]))
    print("\nHeld-out pairs: share in which the right continuation is likelier (per token; as a whole; by its first token alone)")
    for k, v in list(score.items()) + [("all", sum(score.values(), []))]:
        print("  %-11s n=%d  %.3f  %.3f  %.3f" % ((k, len(v)) + tuple(np.mean(v, 0))))


def report_stories(model, t, rounds):
    prompt = [t.end] + t.encode(START)
    for title, rows in [("greedy", generate(model, prompt))] + [(f"seed {n}", generate(model, prompt, seed=n)) for n in range(1, 11)]:
        for ids, ended in rows:
            print(f"\n[{title}; {len(ids)} tokens{'' if ended else ', NOT ENDED'}] {t.decode(ids[1:])}")
    for text in ("The dog chased the ball", "One day, Mia"):
        ids, ended = generate(model, [t.end] + t.encode(text))[0]
        print(f"\n[greedy; {len(ids)} tokens{'' if ended else ', NOT ENDED'}] {t.decode(ids[1:])}")
    many = [row for seed in range(100, 100 + rounds) for row in generate(model, prompt, count=50, seed=seed)]
    lengths = sorted(len(ids) for ids, _ in many)
    wrong = [f for ids, _ in many for f in faults(t.decode(ids[1:]))]
    print(f"\n{len(many)} stories drawn from \"{START}\": {sum(e for _, e in many)} ended within 200 tokens; lengths {lengths[0]} to {lengths[-1]},"
          f" median {lengths[len(lengths) // 2]}; {len(wrong)} faults that check_corpus.py knows", dict(collections.Counter(f[0] for f in wrong)))


def report_copies(model, t):
    wordlike = [i for i, s in t.tokens.items() if s.startswith("\u0120") and len(s) > 3]
    s = Story(random.Random(10**9))
    songs = [" ".join(s.word() for _ in range(s.rng.randint(3, 6))) for _ in range(60)]
    lists = [", ".join(s.rng.choice(POOL) for _ in range(s.rng.randint(4, 8))) for _ in range(60)]
    print("\nA row of tokens and the same row again")
    results = {"songs": heads.repeated(model, t, songs), "lists": heads.repeated(model, t, lists),
               "random words": heads.random_twice(model, wordlike), "random tokens": heads.random_twice(model, range(257, len(t.tokens)))}
    for name, (scores, (one, two), right) in results.items():
        print("  %-13s loss %5.2f, again %5.2f; %3.0f%% of the copy is likeliest; best head L%d.H%d %.2f" % ((name, one, two, 100 * right) + heads.best(scores)))
    return results


def report_heads(model, t, test, pairs, copies):
    before, first = heads.previous(model, test)
    who = heads.pronouns(model, t, pairs)
    ids = [t.end] + t.encode(SENTENCE)
    names = [t.tokens[i].replace("\u0120", "") for i in ids]
    dog, ball, it = (names.index(w) for w in ("dog", "ball", "it"))
    a, _ = heads.attend(model, ids)
    print("\nHeads: mean weight on the previous token and on the end token in front (held-out stories), on the token to copy (songs, lists);")
    print(f"from `it` to dog / ball in \"{END}{SENTENCE}\"; from the pronoun to its referent - distractor in the pairs")
    print("head   prev  front songs lists |  dog  ball | " + "  ".join(who))
    for l in range(before.shape[0]):
        for h in range(before.shape[1]):
            print("L%d.H%d  %.2f  %.2f  %.2f  %.2f | %.3f %.3f | " % (l, h, before[l, h], first[l, h], copies["songs"][0][l, h], copies["lists"][0][l, h], a[l, h, it, dog], a[l, h, it, ball])
                  + "  ".join(("%.2f-%.2f" % tuple(v[l, h, :2])).rjust(len(k)) for k, v in who.items()))
    print("best: previous L%d.H%d %.3f; songs L%d.H%d %.3f; lists L%d.H%d %.3f; it to ball L%d.H%d %.3f"
          % (heads.best(before) + heads.best(copies["songs"][0]) + heads.best(copies["lists"][0]) + heads.best(a[:, :, it, ball])))


def main():
    data, directory = sys.argv[1], sys.argv[2]
    model, t = read_model(directory), Tokenizer(directory + "/tokenizer.json")
    pairs = heads.load_pairs(data + "/pairs.jsonl")
    c = model.config
    print(sum(p.numel() for p in model.parameters()), "parameters;", c["n_layers"], "layers,", c["attention"]["n_heads"], "heads,",
          c["n_vocab"], "tokens in the vocabulary")
    test = report_loss(model, t, data)
    report_pairs(model, t, pairs)
    report_heads(model, t, test, pairs, report_copies(model, t))
    print("\nStories (temperature 0.8, top-k 40, top-p 0.95)")
    report_stories(model, t, int(sys.argv[3]) if len(sys.argv) > 3 else 2)


if __name__ == "__main__":
    main()
