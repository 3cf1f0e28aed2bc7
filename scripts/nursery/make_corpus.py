"""Write the corpus: stories to train on, stories to test on, and coreference pairs.

    python3 make_corpus.py [DIRECTORY [MEGABYTES [FIRST [MIXTURE]]]]

The training stories are those numbered from FIRST on (1 unless told), of the given MIXTURE; the
stories to test on are always of the usual one.
"""
import collections
import json
import pathlib
import random
import re
import sys

import plots_animals
import plots_journeys
import plots_kindness
import plots_things
import plots_words
from pairs import make_pairs
from story import Story

PLOTS = plots_animals.PLOTS + plots_kindness.PLOTS + plots_things.PLOTS + plots_journeys.PLOTS + plots_words.PLOTS
# Plots to draw from. "practice" has more words that come again and more gifts; the last five
# have more and more reasons with he or she, up to stories of nothing else ("lessons", "owners").
MIXTURES = {
    "usual": PLOTS,
    "practice": PLOTS + 2 * (plots_words.PLOTS + [plots_journeys.errand]) + 16 * [plots_kindness.share_out],
    "gifts": PLOTS + plots_words.PLOTS + 2 * plots_kindness.PLOTS,
    "lessons": PLOTS + 120 * [plots_kindness.lesson],
    "owners": PLOTS + 120 * [plots_kindness.lesson],
    "all": PLOTS + plots_words.PLOTS + plots_kindness.PLOTS + 30 * [plots_kindness.lesson],
    "last": PLOTS + plots_words.PLOTS + plots_kindness.PLOTS + 60 * [plots_kindness.lesson],
}
# How often a reason says the name, and how often it is the giver's. Where half of them are, "he"
# and "she" alone tell nothing, nor does who gave; only both do, which is not learned by itself.
REASONS = {"gifts": (0.3, 0.5), "lessons": (0.3, 0.5), "owners": (0.0, 0.75), "all": (0.1, 0.6), "last": (0.0, 0.5)}
END = "<|endoftext|>"


def story(seed, mixture="usual"):
    """The story with this number: the same one every time."""
    rng = random.Random(seed)
    while True:
        s = Story(rng)
        s.named, s.own = REASONS.get(mixture, (0.0, 0.5))
        rng.choice(MIXTURES[mixture])(s)
        text = s.text()
        if 40 <= len(text.split()) <= 115:
            return text


def write(path, seeds, limit, mixture="usual"):
    size = count = 0
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        for seed in seeds:
            text = story(seed, mixture)
            f.write(text + "\n" + END + "\n")
            size += len(text) + len(END) + 2
            count += 1
            if size >= limit:
                break
    return count, size


def unseen(pairs, text, each=120):
    """The first pairs of each kind whose prefix the training text does not have."""
    kept = collections.defaultdict(list)
    for p in pairs:
        if len(kept[p["kind"]]) < each and p["prefix"] not in text:
            kept[p["kind"]].append(p)
    return [p for kind in kept.values() for p in kind]


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "data")
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 30
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    mixture = sys.argv[4] if len(sys.argv) > 4 else "usual"
    out.mkdir(exist_ok=True)
    report = {"train": write(out / "train.txt", range(first, 10**7), int(megabytes * 1e6), mixture),
              "heldout": write(out / "heldout.txt", range(10**7, 2 * 10**7), 400_000)}
    text = (out / "train.txt").read_text(encoding="utf-8").replace(END, "")
    forms = collections.Counter(w.lower() for w in re.findall(r"[A-Za-z]+", text))
    common = [w for w, n in forms.items() if n >= megabytes * 3]
    report["word forms"] = len(common)
    report["made-up words"] = len(forms) - len(common)
    report["plots"] = len(set(PLOTS))
    pairs = unseen(make_pairs(180), text)
    with open(out / "pairs.jsonl", "w", encoding="utf-8") as f:
        for p in pairs:
            f.write(json.dumps(p) + "\n")
    report["pairs"] = len(pairs)
    (out / "corpus.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
