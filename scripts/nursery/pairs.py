"""Held-out minimal pairs: one prefix, a right and a wrong way to go on.

The character ranges of the pronoun, of what it stands for (referent) and of the other
candidate (distractor) are given in the prefix. Nouns and names are paired as no story pairs them.
"""
import random
import re

from chases import TIRED, start_chase
from choices import start_choice, start_fit
from story import START, Story, people
from talk import start_gift


def finish(s, text, **slots):
    line = re.sub(" +", " ", s.expand(text, **slots))
    return START.sub(lambda m: m.group(1) + m.group(2) + m.group(3).upper(), line)


def spot(prefix, word, last=False):
    """The character range of a word's first (or last) mention."""
    found = [m.span() for m in re.finditer(r"\b%s\b" % re.escape(word), prefix, re.I)]
    return list(found[-1 if last else 0])


def entry(kind, prefix, right, wrong, pronoun, referent, distractor):
    return {"kind": kind, "prefix": prefix, "right": right, "wrong": wrong,
            "pronoun": spot(prefix, pronoun, last=True), "referent": spot(prefix, referent), "distractor": spot(prefix, distractor)}


def who_escaped(s):
    start, slots = start_chase(s, "plain", test=True)
    prefix = finish(s, start, **slots) + " It"
    return entry("It + verb", prefix, " " + s.expand("$T.esc.", **slots), " " + s.expand("$A.esc.", **slots), "It", slots["T"].name, slots["A"].name)


def where_caught(s):
    start, slots = start_chase(s, "plain", test=True)
    prefix = finish(s, start, **slots).rstrip(".")
    if not prefix.endswith(" catch it"):
        return None
    right, wrong = (" " + s.expand(f"${x}.where.", **slots) for x in "TA")
    return entry("it + place", prefix, right, wrong, "it", slots["T"].name, slots["A"].name)


def why_not(s):
    start, slots = start_chase(s, "plain", test=True)
    slow = s.chance(0.5)
    reason = s.pick(TIRED) if slow else s.expand("$T.why", **slots)
    prefix = finish(s, start.rstrip(".") + " because it was too " + reason + ". the", **slots)
    one, two = (slots["A"], slots["T"]) if slow else (slots["T"], slots["A"])
    return entry("because it", prefix, " " + one.name, " " + two.name, "it", one.name, two.name)


def did_not_fit(s):
    which = s.pick(["big", "small"])
    start, slots = start_fit(s, which, test=True)
    prefix = finish(s, start + " the", **slots)
    one, two = (slots["T"], slots["B"]) if which == "big" else (slots["B"], slots["T"])
    return entry("did not fit", prefix, " " + one.name, " " + two.name, "it", one.name, two.name)


def what_it_was(s):
    see, act, slots, _ = start_choice(s, test=True)
    prefix = finish(s, see + " " + act + ". it was", **slots)
    return entry("it was", prefix, " " + s.expand("$T.like.", **slots), " " + s.expand("$D.like.", **slots), "it", slots["T"].name, slots["D"].name)


def he_or_she(s):
    s.pair(test=True, mixed=1)
    start, first, second, slots = start_gift(s)
    gives = s.chance(0.5)
    prefix = finish(s, start + (" because $A.he" if gives else " because $B.he"), **slots)
    one, two = (slots["A"], slots["B"]) if gives else (slots["B"], slots["A"])
    right, wrong = (first, second) if gives else (second, first)
    if set(first) & set(second):
        return None
    right, wrong = (" " + s.expand(s.pick(r), **slots) + "." for r in (right, wrong))
    return entry("he or she", prefix, right, wrong, one.pron, one.name, two.name)


MAKERS = [who_escaped, where_caught, why_not, did_not_fit, what_it_was, he_or_she]


def make_pairs(each=120, seed=3_000_000_000):
    pairs = []
    for number, maker in enumerate(MAKERS):
        seen = set()
        tries = 0
        while len(seen) < each and tries < 100 * each:
            tries += 1
            s = Story(random.Random(seed + 10**6 * number + tries))
            s.cast["A"] = s.pick(people)
            made = maker(s)
            if made and made["prefix"] not in seen and made["right"] != made["wrong"]:
                seen.add(made["prefix"])
                pairs.append(made)
    return pairs
