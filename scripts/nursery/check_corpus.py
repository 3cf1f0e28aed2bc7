"""Faults that no story may have; read a few at the end.

    python3 check_corpus.py [FIRST [COUNT [SHOWN]]]
"""
import re
import sys

from make_corpus import story
from story import people

NAME = "(" + "|".join(p.name for p in people) + ")"
PRONOUN = {p.name: p.pron for p in people}
FAULTS = {
    "a name twice": re.compile(rf"\b{NAME},? (?:and|gave|handed|brought|passed|helped|thanked|hugged|waited for|had)(?: the \w+)?(?: to)? \1\b"),
    "talks to itself": re.compile(rf"\b{NAME}[,!.?]+\" (?:said|asked|cried|answered) \1\b"),
    "article": re.compile(r"\b[Aa] [aeio]\w|\b[Aa]n (?!hour)[^aeiou\W]|\b(?:the|a|an) (?:the|a|an|some)\b"),
    "unfilled": re.compile(r"[{}|$\\]|\s\s|\s[.,!?]|[.,!?]{2}"),
    "no object": re.compile(r"\bhad (?:her|him) an? \w+[.!]"),
    "the tests' sentence": re.compile(r"dog chased the ball\b"),
}


def faults(text):
    found = [(name, m.group()) for name, fault in FAULTS.items() for m in [fault.search(re.sub(r'[:,] ?"[a-z ,]+[.!]"', "", text))] if m]
    used = set(re.findall(rf"\b{NAME}\b", text))
    if not re.search("game|sang", text) and len(used) > 2:
        found.append(("more than two children", " ".join(sorted(used))))
    for giver, getter, pron in re.findall(rf"{NAME} (?:gave|handed|helped|thanked|hugged)[^.]*?\b{NAME}\b[^.]* because (he|she)\b", text):
        if pron not in (PRONOUN[giver], PRONOUN[getter]):
            found.append(("whose reason", giver + " " + getter + " " + pron))
    return found


def main():
    first, count, shown = (int(a) for a in (sys.argv[1:] + ["20000000", "20000", "5"][len(sys.argv) - 1:]))
    bad = 0
    for seed in range(first, first + count):
        text = story(seed)
        for fault in faults(text):
            bad += 1
            if bad < 30:
                print(seed, fault, "\n   ", text)
        if seed < first + shown:
            print(text + "\n")
    print(count, "stories,", bad, "faults")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
