"""A tiny template language, and the people and things that templates talk about.

    {one|two|three}   one of the alternatives (they may be nested; an empty one is fine)
    $A, $A.he, ...    an actor of the story, or one of its forms or properties
"""
import re
import zlib

from lexicon import ANIMALS, BOYS, FOODS, GIRLS, MOVERS
from things import BOXES, ENDS, KIN, MASS, OBJECTS, SOUNDS, VOWELS, table

CASES = {"she": ("her", "her", "herself"), "he": ("him", "his", "himself"), "it": ("it", "its", "itself"), "they": ("them", "their", "themselves")}


class Person:
    def __init__(self, name, pron):
        self.name, self.pron = name, pron

    def form(self, what, rng):
        him, his, himself = CASES[self.pron]
        kinds = {"": self.name, "he": self.pron, "him": him, "his": his, "self": himself,
                 "child": "girl" if self.pron == "she" else "boy", "the": self.name}
        return capital(kinds, what)


class Noun:
    """A noun with its properties; a property with alternatives ("a;b") gives one of them."""

    def __init__(self, name, kind, **props):
        self.name, self.kind, self.props = name, kind, props

    def form(self, what, rng):
        name = self.name
        an = "an " if name[0] in "aeiou" and not name.startswith("uni") else "a "
        kinds = {"": name, "the": "the " + name, "a": ("some " if name in MASS else an) + name, "he": "it", "him": "it", "his": "its"}
        for key, value in self.props.items():
            kinds[key] = rng.choice(value.split(";"))
        return capital(kinds, what)


def capital(kinds, what):
    if what in kinds:
        return kinds[what]
    return (kinds[what.lower()][0].upper() + kinds[what.lower()][1:])


def nouns(text, kind, *fields):
    return [Noun(row[0], kind, **dict(zip(fields, row[1:]))) for row in table(text)]


animals = nouns(ANIMALS, "animal", "noise", "esc", "where", "why", "food", "home")
movers = nouns(MOVERS, "mover", "esc", "where", "why")
movers += [movers[0]] * 3  # nothing is chased as often as a ball
foods = nouns(FOODS, "food", "like", "how", "home")
objects = nouns(OBJECTS, "object", "verb", "like", "home", "size")
boxes = nouns(BOXES, "box", "big", "home", "size")
people = [Person(n, "she") for n in GIRLS] + [Person(n, "he") for n in BOYS]



def kept_out(a, b):
    """Whether this pairing of names or nouns is in no story, so that test pairs are new to the model."""
    return (a, b) == ("dog", "ball") or zlib.crc32(f"{a}/{b}".encode()) % 9 == 0


INNER = re.compile(r"\{([^{}]*)\}")
SLOT = re.compile(r"\$([A-Za-z]+)(?:\.([A-Za-z]+))?")
START = re.compile(r'(^|[.!?] |\n)("?)([a-z])')


class Story:
    def __init__(self, rng):
        self.rng, self.cast, self.out = rng, {}, []
        self.used = set()  # sentences that should not come twice
        self.own = 0.5  # how often the reason for a gift is the giver's
        self.named = 0.0  # how often a reason names its owner, and says not only he or she
        self.cast["R"] = Person(*rng.choice(KIN))  # the relative who looks after the first child

    def pick(self, pool, *but):
        while True:
            one = self.rng.choice(pool)
            if one not in but and getattr(one, "name", one) not in [getattr(b, "name", b) for b in but]:
                return one

    def child(self):
        """The first child of the story, found now if there is none yet."""
        if "A" not in self.cast:
            self.cast["A"] = self.rng.choice(people)
        return self.cast["A"]

    def pair(self, test=False, mixed=0.85):
        """Two children of different names, mostly a girl and a boy so that he and she tell them apart.

        One in nine pairings of names is kept for the tests.
        """
        one = self.child()
        pool = [p for p in people if p.pron != one.pron] if self.chance(mixed) else people
        while True:
            two = self.rng.choice(pool)
            if two.name != one.name and kept_out(*sorted([one.name, two.name])) == test:
                break
            if test:
                one = self.cast["A"] = self.rng.choice([p for p in people if p.pron == one.pron])
        self.cast["B"] = two
        return one, two

    def fresh(self, pool):
        """One of the pool that this story has not had, as long as there is any."""
        left = [one for one in pool if str(one) not in self.used] or pool
        one = self.rng.choice(left)
        self.used.add(str(one))
        return one

    def some(self, pool, count):
        return self.rng.sample(pool, count)

    def chance(self, p):
        return self.rng.random() < p

    def word(self, low=2, high=3):
        """A made-up word such as no dictionary has."""
        r = self.rng
        n = r.randint(low, high)
        return "".join(r.choice(SOUNDS) + r.choice(VOWELS) for _ in range(n - 1)) + r.choice(SOUNDS)[:2] + r.choice(VOWELS)[0] + (r.choice(ENDS) if r.random() < 0.6 else "")

    def expand(self, text, **extra):
        cast = {**self.cast, **extra}
        while True:
            found = INNER.search(text)
            if not found:
                break
            text = text[: found.start()] + self.rng.choice(found.group(1).split("|")) + text[found.end():]

        def fill(m):
            one = cast[m.group(1)]
            return one if isinstance(one, str) else one.form(m.group(2) or "", self.rng)

        return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", SLOT.sub(fill, text)).strip()

    def say(self, text, **extra):
        """Add a sentence (or several) to the story."""
        line = re.sub(" +", " ", self.expand(text, **extra))
        self.out.append(START.sub(lambda m: m.group(1) + m.group(2) + m.group(3).upper(), line))

    def text(self):
        return " ".join(s for s in self.out if s)
