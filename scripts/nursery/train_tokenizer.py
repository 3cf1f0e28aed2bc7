"""Learn the merges from the training stories and write tokenizer.json.

    python3 train_tokenizer.py [CORPUS [OUTPUT [VOCABULARY]]]
"""
import collections
import json
import pathlib
import sys

from bpe import BYTES, END, SPLIT, to_alphabet
from story import animals, boxes, movers

FAVOUR = 5


def learn(counts, merges):
    """The most frequent pair of neighbours is merged, again and again."""
    words = [list(w) for w in counts]
    weight = list(counts.values())
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for n, w in enumerate(words):
        for p in zip(w, w[1:]):
            pairs[p] += weight[n]
            where[p].add(n)
    learned = []
    while len(learned) < merges and pairs:
        best = max(pairs, key=lambda p: (pairs[p], p))
        if pairs[best] < 2:
            break
        learned.append(best)
        for n in sorted(where.pop(best)):
            old, new, i = words[n], [], 0
            while i < len(old):
                if i + 1 < len(old) and (old[i], old[i + 1]) == best:
                    new.append(old[i] + old[i + 1])
                    i += 2
                else:
                    new.append(old[i])
                    i += 1
            for p in zip(old, old[1:]):
                pairs[p] -= weight[n]
            for p in zip(new, new[1:]):
                pairs[p] += weight[n]
                where[p].add(n)
            words[n] = new
        del pairs[best]
    return learned


def main():
    corpus = sys.argv[1] if len(sys.argv) > 1 else "data/train.txt"
    output = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "out/tokenizer.json")
    size = int(sys.argv[3]) if len(sys.argv) > 3 else 1024
    counts = collections.Counter()
    for text in open(corpus, encoding="utf-8").read().split("\n" + END + "\n"):
        counts.update(SPLIT.findall(text))
    # Made-up words teach no merges, and the nouns that "it" stands for count more than once:
    # they should be tokens of their own, so that one can see in a table who attends to them.
    least = sum(counts.values()) // 400_000
    favour = {" " + n.name for n in animals + movers + boxes}
    counts = {to_alphabet(p): n * (FAVOUR if p in favour else 1) for p, n in sorted(counts.items()) if n > least}
    alphabet = sorted(BYTES.values())
    learned = learn(counts, size - 1 - len(alphabet))
    vocab = {t: i for i, t in enumerate([END] + alphabet + [a + b for a, b in learned])}
    assert len(vocab) == size, "two merges made the same token"
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    special = {"id": 0, "content": END, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    data = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [special], "normalizer": None,
        "pre_tokenizer": level, "post_processor": None, "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocab, "merges": [a + " " + b for a, b in learned]},
    }
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(len(vocab), "tokens;", len(counts), "kinds of pieces")


if __name__ == "__main__":
    main()
