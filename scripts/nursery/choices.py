"""A child takes one of two things; a thing does not fit: what "it" is follows from the rest."""
from chases import allowed
from story import boxes, foods, objects

BIG, SMALL = ["big", "large", "wide", "huge", "tall"], ["small", "little", "narrow", "tiny"]
FIXTURES = ["tree", "swing", "window"]
LUGGAGE = [b for b in boxes if b.name in "bag basket box chest suitcase backpack pocket".split()]
STORE = [b for b in boxes if b.name in "box basket drawer chest jar tin".split()]
packable = [o for o in objects if int(o.props["size"]) > 1 and o.name not in FIXTURES]

INSIDE = ["on the table", "near the door", "in the kitchen", "on the bench"]
OUTSIDE = ["in the basket", "on the blanket", "in the grass"]
SEE = [
    "$W {saw|found|noticed} $T.a and $D.a $S.",
    "$W {saw|found|noticed} $D.a and $T.a $S.",
    "there were two things $S: $D.a and $T.a.",
    "$W had $T.a and $D.a.",
    "$W had $D.a and $T.a.",
    "$W {put|laid} $T.the {beside|next to} $D.the.",
    "$W {looked at|pointed at} $D.the and then at $T.the.",
]


def start_choice(s, test=False, where=INSIDE):
    """What there is, which of it is taken, and what fills the sentences."""
    while True:
        eat = s.chance(0.45)
        target, other = allowed(s, foods if eat else objects, objects if eat else s.pick([foods, objects]), test)
        if eat or other.kind == "food" or other.props["verb"] != target.props["verb"]:
            break
    act = "$W.he {ate|tasted|ate} it" if eat else "$W.he $T.verb it"
    return s.pick(SEE), act, dict(W=s.child(), T=target, D=other, S=s.pick(where)), eat


def choose(s, where=INSIDE):
    see, act, slots, eat = start_choice(s, where=where)
    s.say(see, **slots)
    tail = s.pick(["", "", "", " $T.how" if eat else " {before lunch|after school|all day|for an hour|once more}", " because it was $T.like"])
    s.say(s.pick(["", "", "then " if not eat else ""]) + act + tail + ".", **slots)
    if "because" not in tail:
        s.say("{it|it|it|$T.the} was $T.like.", **slots)
    if not eat and s.chance(0.4):
        s.say("{then|later|at last|after that}, $W.he {put it|put it|left it} $T.home.", **slots)
    return slots["T"]


def start_fit(s, which, test=False, into=boxes):
    """A thing does not fit because it is too big, or because what should hold it is too small."""
    while True:
        thing, box = allowed(s, packable, into, test)
        if 0 <= int(thing.props["size"]) - int(box.props["size"]) <= 1:
            break
    start = s.pick(["the $T did not fit {in|into|inside} the $B", "the $T did not fit {in|into|inside} the $B", "$W {tried|wanted} to put the $T {in|into|inside} the $B, but the $T did not fit", "the $T would not go {in|into|inside} the $B"])
    start += " {because|since} it was too " + s.pick(BIG if which == "big" else SMALL) + "."
    return start, dict(T=thing, B=box, W=s.child())


def fit(s, into=boxes):
    which = s.pick(["big", "small"])
    start, slots = start_fit(s, which, into=into)
    s.say(start, **slots)
    if which == "big":
        s.say("the $T {stuck out|had to stay outside|got stuck|was bigger than the $B}.", **slots)
    else:
        s.say("the $B {would not close|tipped over|was made for little things|was smaller than the $T}.", **slots)
    if s.chance(0.7):
        s.say("{so $W {used|took|fetched} a $B.big instead|luckily, $W found a $B.big}.", **slots)
