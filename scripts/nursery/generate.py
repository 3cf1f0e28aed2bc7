"""Text from the model: the likeliest token every time, or drawn with temperature, top-k and top-p."""
import torch


def draw(logits, chance, temperature=0.8, top_k=40, top_p=0.95):
    """One token for each row of logits, by the order temperature, top-k, top-p."""
    values, ids = (logits / temperature).topk(top_k, -1)
    p = torch.softmax(values, -1)
    p = p * ((p.cumsum(-1) - p) < top_p)  # the token that passes top_p is still in
    return ids.gather(1, torch.multinomial(p, 1, generator=chance))[:, 0]


@torch.no_grad()
def generate(model, prompt, count=1, limit=200, seed=None, end=0):
    """count continuations of the prompt's ids, cut before the end token; greedy without a seed.

    Returns (ids with the prompt, whether the end token came within the limit) for each.
    """
    chance = None if seed is None else torch.Generator().manual_seed(seed)
    rows = torch.tensor([prompt] * count)
    for _ in range(limit):
        logits = model(rows)[:, -1]
        one = logits.argmax(-1) if chance is None else draw(logits, chance)
        rows = torch.cat([rows, one[:, None]], 1)
        if bool((rows[:, len(prompt):] == end).any(1).all()):
            break
    out = []
    for row in rows.tolist():
        more = row[len(prompt):]
        stop = more.index(end) if end in more else len(more)
        out.append((prompt + more[:stop], end in more))
    return out
