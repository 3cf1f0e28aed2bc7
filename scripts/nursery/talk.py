"""Two children: who gives and who gets, who helps whom and why; and lists to remember."""
from choices import FIXTURES
from story import foods, objects

presents = [o for o in objects if o.props["size"] in "1234" and o.name not in FIXTURES]

GIVE = ["$A gave $B $T.a", "$A gave $T.the to $B", "$A handed $T.the to $B", "$A brought $T.the to $B", "$A passed $T.the to $B"]
GIVER = ["had two of them", "had more than enough", "wanted to share", "liked to give presents", "wanted to make $B.him smile"]
EATER = ["was hungry", "had nothing to eat", "had no lunch", "looked hungry", "asked for it", "had not eaten all day"]
OWNER = ["needed it", "asked for it", "had none", "had lost the old one", "wanted to try it", "looked sad", "had always wanted it"]
# What one does for the other | why the helper does | why the helped one is helped
HELP = [
    ("$A helped $B", ["was strong", "knew what to do", "had time", "liked to help"], ["was stuck", "could not do it alone", "needed help", "was too tired"]),
    ("$A carried the bag for $B", ["was strong", "wanted to help", "liked to help"], ["was tired", "had a sore arm", "was too weak"]),
    ("$A showed the way to $B", ["knew it well", "had been there before", "had a map"], ["was lost", "did not know it", "was new in town"]),
    ("$A held the ladder for $B", ["was strong", "wanted to help", "liked to help"], ["was afraid to fall", "wanted to climb up", "needed help"]),
    ("$A waited for $B", ["was patient", "had time", "did not want to go alone"], ["was slow", "was late", "had to tie a shoe"]),
    ("$A hugged $B", ["was kind", "wanted to help", "was a good friend"], ["was sad", "looked sad", "was crying"]),
    ("$A thanked $B", ["was glad", "was polite", "was happy"], ["had been so kind", "had helped so much", "had been so brave"]),
]
ALL_HELP = " ".join(h[0].split()[1] for h in HELP)
ON_THE_WAY = "helped carried showed waited"
THANKS = [
    "\"Thank you, $A,\" said $B.", "\"Thank you, $A!\" said $B. \"You are welcome, $B,\" said $A.",
    "$B.He thanked $A, and $A.he smiled.", "$B.He smiled at $A.", "$B was {glad|happy}.",
]


def start_gift(s, thing=None, swap=None, help=None):
    """A gift or a help, up to its reason, with the reasons of either child."""
    a, b = s.cast["A"], s.cast["B"]
    if swap or (swap is None and s.chance(0.5)):
        a, b = b, a
    if help or (help is None and not thing and s.chance(0.4)):
        start, first, second = s.fresh([h for h in HELP if h[0].split()[1] in (help or ALL_HELP)])
        return start, first, second, dict(A=a, B=b)
    known = bool(thing)
    thing = thing or s.pick(s.pick([foods, presents]))
    eaten = thing.kind == "food"
    first = GIVER[2 * known:] + (["was full already", "was not hungry"] if eaten else ["did not need it"])
    start = s.fresh(GIVE)
    return start.replace("$T.a", "$T.the") if known else start, first, EATER if eaten else OWNER, dict(A=a, B=b, T=thing)


def gift(s, thing=None, swap=None, help=None, thanks=0.7):
    """One child gives or helps; "he" or "she" in the reason shows whose reason it is."""
    start, first, second, slots = start_gift(s, thing, swap, help)
    same = slots["A"].pron == slots["B"].pron
    form = "" if s.named and (same or s.chance(s.named)) else ".he"
    if s.chance(s.own):
        s.say(start + f" because $A{form} " + s.pick(first) + ".", **slots)
    else:
        s.say(start + f" because $B{form} " + s.pick(second) + ".", **slots)
    if s.chance(thanks) and "thanked" not in start:
        s.say(s.pick(THANKS), **slots)


def listing(items, last=" and "):
    """"a, b, and c"; "a and b"."""
    return last.join(items) if len(items) < 3 else ", ".join(items[:-1]) + "," + last + items[-1]


def shopping(s, count):
    """Things that must be remembered in order."""
    things = s.some(foods + [o for o in objects if o.props["size"] in "12"], count)
    return things, listing([t.form("a", s.rng) for t in things])
