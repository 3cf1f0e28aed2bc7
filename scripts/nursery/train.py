"""Train the model on the stories.

    python3 train.py DATA OUT STEPS FALL [SEED [START]]

The matrices of the blocks are trained with spectral.py's optimizer, all else with AdamW. The
learning rate warms up, stays, and falls to zero over the last FALL steps (a run shorter than
FALL begins part of the way down). Activations are bf16
(autocast), weights f32. START is a checkpoint to go on from, instead of beginning at random.

Reads DATA/train.txt, DATA/heldout.txt and OUT/tokenizer.json; writes OUT/model.pt every
minute and at the end. The order of the batches depends on SEED alone.
"""
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from bpe import END, Tokenizer
from model import Transformer, make_config
from spectral import Spectral

BATCH, LENGTH, PEAK, DECAY, SCALE = 16, 256, 2.5e-3, 0.05, 4
PAUSE = 60  # seconds between checkpoints
APART = 12  # so many rows of a batch keep their stories apart; in the rest, one may look back


def load(path, tokenizer):
    """All stories as one row of token ids, an end token before each and after the last."""
    saved = path + ".npy"
    if os.path.exists(saved) and os.path.getmtime(saved) > os.path.getmtime(path):
        return np.load(saved)
    ids = [tokenizer.end]
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.rstrip("\n") != END:
                ids += tokenizer.encode(line.rstrip("\n"))
                ids.append(tokenizer.end)
    ids = np.array(ids, dtype=np.uint16)
    np.save(saved, ids)
    return ids


def rows(ids, starts):
    return torch.from_numpy(np.stack([ids[s: s + LENGTH + 1] for s in starts]).astype(np.int64))


def epoch(ids, ends, shuffler):
    """Where the windows of one pass begin: always at an end token, as every prompt does."""
    starts = np.arange(int(shuffler.integers(0, LENGTH)), ends[-1] - LENGTH - 1, LENGTH)
    starts = np.unique(ends[np.searchsorted(ends, starts)])
    return list(shuffler.permutation(starts[starts < len(ids) - LENGTH - 1]))


def batches(ids, seed):
    """Batches without end."""
    shuffler, queue = np.random.default_rng(seed), []
    ends = np.flatnonzero(ids == 0)
    while True:
        if len(queue) < BATCH:
            queue = epoch(ids, ends, shuffler)
        yield rows(ids, [queue.pop() for _ in range(BATCH)])


def rate(step, steps, warmup, fall):
    return PEAK * min(1.0, (step + 1) / warmup, (steps - step) / fall if fall else 1.0)


def loss_of(model, batch, apart=APART):
    """Mean loss; in the first rows no story sees the one before it."""
    ids = batch[:, :-1]
    story = (ids == 0).cumsum(1)
    wall = story[:, :, None] != story[:, None, :]
    wall[apart:] = False
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(ids, apart=wall)
    return F.cross_entropy(logits.float().reshape(-1, logits.shape[-1]), batch[:, 1:].reshape(-1))


def make_optimizers(model):
    matrices = [p for n, p in model.named_parameters() if n.startswith("blocks") and p.dim() == 2]
    chosen = {id(p) for p in matrices}
    others = [p for p in model.parameters() if id(p) not in chosen]
    return [(Spectral(matrices, PEAK, weight_decay=DECAY), SCALE),
            (torch.optim.AdamW(others, lr=PEAK, eps=1e-10, betas=(0.9, 0.97), weight_decay=0.0), 1)]


def update(model, optimizers, batch, lr):
    for optimizer, scale in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = scale * lr
    loss = loss_of(model, batch)
    model.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer, _ in optimizers:
        optimizer.step()
    return loss.item()


def keep(model, path, **facts):
    torch.save({"config": model.config, "state": model.state_dict(), **facts}, path + ".tmp")
    os.replace(path + ".tmp", path)


def run(model, optimizers, text, check, out, schedule, seed, before):
    steps, average = schedule[0], None
    begun = saved = time.time()
    for step, batch in zip(range(steps), batches(text, seed)):
        loss = update(model, optimizers, batch, rate(step, *schedule))
        average = loss if average is None else 0.95 * average + 0.05 * loss
        done, now = step + 1, time.time()
        if done % 50 == 0 or done == steps:
            print(f"step {done} loss {average:.4f} seconds {now - begun:.0f}", flush=True)
        if now - saved > PAUSE or done == steps:
            with torch.no_grad():
                held = loss_of(model, check, len(check)).item()
            print(f"step {done} held-out {held:.4f}", flush=True)
            total = before + done
            keep(model, out + "/model.pt", step=total, tokens=total * BATCH * LENGTH, held=held, optimizers=[o.state_dict() for o, _ in optimizers])
            saved = time.time()


def main():
    data, out, steps, fall = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    torch.manual_seed(seed)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 2)))
    tokenizer = Tokenizer(out + "/tokenizer.json")
    train, test = load(data + "/train.txt", tokenizer), load(data + "/heldout.txt", tokenizer)
    model, before, warmup = Transformer(make_config(len(tokenizer.vocab))), 0, 150
    optimizers = make_optimizers(model)
    if len(sys.argv) > 6:
        saved = torch.load(sys.argv[6])
        model.load_state_dict(saved["state"])
        for (optimizer, _), state in zip(optimizers, saved["optimizers"]):
            optimizer.load_state_dict(state)
        before, warmup = saved["step"], 10
    print("parameters", sum(p.numel() for p in model.parameters()), "training tokens", len(train), "held-out", len(test), flush=True)
    ends = np.flatnonzero(test == 0)
    ends = ends[ends < len(test) - LENGTH - 1]
    check = rows(test, ends[np.linspace(0, len(ends) - 1, 64).astype(int)])
    run(model, optimizers, train, check, out, (steps, warmup, fall), seed, before)


if __name__ == "__main__":
    main()
