"""Chases: an animal or a child runs after something, and a pronoun says who got away or why."""
from story import animals, kept_out, movers, people

CHASERS = [a for a in animals if a.name in "dog puppy cat kitten fox bear goose goat pig hen".split()]
GAME = [a for a in animals if a.name in "rabbit squirrel mouse frog duck bird butterfly bee fish crab lamb hen turtle deer cat".split()]
TIRED = ["slow", "tired", "old", "sleepy", "lazy", "fat", "weak"]
REST = ["sat down to rest", "lay down in the shade", "went home", "fell asleep", "was out of breath", "gave up", "needed a nap", "turned back"]
PLACE = ["tree", "house", "well", "barn", "fence", "shed", "wall", "pond", "bench", "gate"]
ODD = {"mouse": "mice", "fish": "fish", "goose": "geese", "deer": "deer", "puppy": "puppies", "fox": "foxes", "butterfly": "butterflies", "pony": "ponies"}
WANT = ["wanted to play", "was bored", "loved to run", "was hungry", "thought it was a game", "had nothing else to do"]

CHASE = [
    "the $A {chased|chased|ran after|followed|raced after} the $T but could not catch it",
    "the $A {chased|chased|ran after|followed|raced after} the $T but could not catch it",
    "the $A {chased|ran after|followed} the $T {past|around|behind} the $O but could not catch it",
    "the $T {came|went} past the $O. The $A {ran|raced|hurried} after it but could not catch it",
    "the $A saw the $T and {chased|ran after|followed} it, but could not catch it",
    "$W {watched|saw} the $A chase the $T. The $A could not catch it",
    "there was a $T {near|behind|by} the $O. The $A {ran|raced|crept} {up to|after} it but could not {catch|reach|get} it",
    "the $A {wanted|tried} to catch the $T, but the $A could not {reach|catch|get} it",
]
WHERE = CHASE[:6]  # what goes well with a place
SUDDEN = CHASE[:4]


def allowed(s, first, second, test=False):
    """Two nouns that may stand together in a story (or, for a test, that may not)."""
    while True:
        a, b = s.rng.choice(first), s.rng.choice(second)
        if a.name != b.name and kept_out(a.name, b.name) == test:
            return a, b


def start_chase(s, form, hunter=None, test=False):
    """The first sentence of a chase and what fills it."""
    hunter, prey = allowed(s, [hunter] if hunter else CHASERS, s.pick([movers, movers, GAME]), test)
    slots = dict(A=hunter, T=prey, O=s.pick(PLACE), W=s.child())
    start = s.pick(WHERE if form == "where" else CHASE)
    if start in SUDDEN and s.out and s.chance(0.3):
        start = s.pick(["Suddenly, ", "Just then, "]) + start
    if form == "where":
        start += " $T.where"
    elif form == "why":
        start += " {because|since} it was too $T.why"
    elif form == "tired":
        start += " {because|since} it was too " + s.pick(TIRED)
    return start + ".", slots


def plain(s, hunter=None):
    form = s.pick(["plain", "plain", "where", "where", "where", "why", "why", "tired", "tired"])
    start, slots = start_chase(s, form, hunter)
    s.say(start, **slots)
    of_hunter = "the $A " + s.pick(REST + ["$A.noise"]) + "."
    if form == "tired" or (form == "plain" and s.chance(0.2)):
        s.say(of_hunter, **slots)
    else:
        s.say(s.pick(["it $T.esc.", "it $T.esc.", "it $T.esc." if form != "why" else "the $T $T.esc.", "the $T $T.esc."]), **slots)
        if s.chance(0.4):
            s.say(of_hunter, **slots)
    return slots["A"], slots["T"]


def child(s, hunter=None):
    prey = s.pick(movers + GAME)
    slots = dict(W=s.child(), T=prey, O=s.pick(PLACE))
    s.say(s.pick([
        "$W {chased|ran after|followed} the $T but could not catch it",
        "the $T {came|went} past the $O. $W {ran|hurried} after it but could not catch it",
        "$W tried to catch the $T, but $W.he could not {reach|get|catch} it",
    ]) + s.pick([".", " $T.where.", " because it was too $T.why."]), **slots)
    s.say(s.pick(["it $T.esc.", "it $T.esc.", "the $T $T.esc.", "$W.he {sat down to rest|was out of breath|gave up|laughed}."]), **slots)
    return None, prey


def herd(s, hunter=None):
    """Several hunters: they are "they", and what they hunt is "it"."""
    hunter, prey = allowed(s, CHASERS, movers + GAME)
    slots = dict(A=ODD.get(hunter.name, hunter.name + "s"), T=prey, N=s.pick(["the", "two", "three", "four"]))
    s.say("$N $A {chased|ran after|followed} the $T but could not catch it" + s.pick([".", " $T.where."]), **slots)
    s.say(s.pick(["it $T.esc.", "it $T.esc.", "they {sat down to rest|lay down in the shade|went home|were out of breath|gave up|needed a nap|were too slow}."]), **slots)
    return None, prey


def asked(s, hunter=None):
    """A question about the chase, answered with a pronoun."""
    if "B" not in s.cast:
        return plain(s, hunter)
    hunter, prey = allowed(s, [hunter] if hunter else CHASERS, s.pick([movers, movers, GAME]))
    slots = dict(D=hunter, T=prey)
    s.say("the $D {chased|ran after|followed} the $T but could not catch it" + s.pick([".", " $T.where."]), **slots)
    s.say(s.pick([
        "\"Where is the $T?\" asked $B. \"It $T.esc,\" said $A.",
        "\"Did the $D catch the $T?\" asked $B. \"No, it $T.esc,\" said $A.",
        "\"What did the $D chase?\" asked $B. \"It chased the $T,\" said $A.",
        "\"Why did the $D stop?\" asked $B. \"It was too " + s.pick(TIRED) + ",\" said $A.",
        "\"Why did the $T get away?\" asked $B. \"It was too $T.why,\" said $A.",
    ]), **slots)
    return hunter, prey


def wanted(s, hunter=None):
    """Here "it" is the hunter, because of what it felt."""
    hunter, prey = allowed(s, [hunter] if hunter else CHASERS, s.pick([movers, movers, GAME]))
    slots = dict(A=hunter, T=prey)
    s.say("the $A {chased|ran after|followed} the $T because it {" + "|".join(WANT) + "}.", **slots)
    s.say("{the $A could not catch the $T. It $T.esc|but the $T $T.esc|the $T $T.esc}.", **slots)
    return hunter, prey


def caught(s, hunter=None):
    hunter, prey = allowed(s, [hunter] if hunter else CHASERS, s.pick([movers, movers, GAME]))
    slots = dict(A=hunter, T=prey, W=s.child())
    s.say("the $A {chased|ran after|followed} the $T and {at last|soon|} caught it{| $T.where}. {the $A brought the $T to $W|the $A was very proud|then the $A let it go, and it $T.esc|$W {clapped|laughed|was surprised}}.", **slots)
    return hunter, prey


def chase(s, hunter=None):
    """One of the chases. Returns the hunter (None unless it is one animal) and the prey."""
    kinds = [plain] * 9 + [asked, asked, wanted, caught]
    return s.pick(kinds if hunter else kinds + [child, herd])(s, hunter)
