"""Plots with an order to keep: directions, errands, hiding places, whom one meets on the way."""
from choices import FIXTURES
from pieces import aside, ending, opening, opening_two, places
from story import animals, foods, objects
from talk import gift, listing, shopping

WAYS = ["turn left at the $O", "turn right at the $O", "cross the $O", "walk around the $O", "climb over the $O", "go past the $O", "stop at the $O"]
SPOTS = "oak well mill bridge fountain statue gate pond barn fence tower hedge rock garden bakery tunnel".split()
walkers = [a for a in animals if a.name not in ("fish", "crab")]


def treasure(s):
    """Directions that are given once and followed in order later."""
    opening_two(s)
    steps = [s.expand(w, O=o) for w, o in zip(s.some(WAYS, 2), s.some(SPOTS, 2))]
    s.cast.update(T=s.pick([o for o in objects if o.props["size"] in "12"]), I=steps[0], J=steps[1])
    s.say("{One day|In an old book|In the attic}, $A found a map. It said: \"First $I. Then $J.\"")
    s.say("$A showed {it|the map} to $B. \"{Let us go|It is a treasure map}!\" said $B.")
    s.say("\"First, we must $I,\" said $A. {So they did.|It was easy.} \"Then we must $J,\" said $B. {It took a long time.|That was harder.|They did it.}")
    s.say("There {they dug a hole|stood an old box}. {Inside was|In it was} $T.a! It was $T.like. {$A and $B {cheered|jumped} for joy.|\"It is for both of us, $B,\" said $A.|They put it $T.home.}")
    ending(s, 0.6)


def errand(s):
    opening(s)
    things, line = shopping(s, s.rng.randint(2, 4))
    s.cast.update(S=s.pick(["seller", "shopkeeper", "man", "woman"]), LIST=line)
    s.say("{\"Please {buy|bring me} $LIST,\" said $A's $R.|$A's $R sent $A.him to the {shop|market}. \"We need $LIST,\" $R.he said.}")
    s.say("On the way, $A {said|repeated|sang} the words: \"$LIST.\"")
    if s.chance(0.5):
        s.say("$A.He met a friend. \"What do you need?\" asked the friend. \"I need $LIST,\" said $A.")
    s.say("{At the {shop|market}|There}, $A asked the $S for $LIST.")
    s.say("{\"Did you get everything?\" asked $A.his $R.|$A.His $R looked into the {bag|basket}.} {It held|In it were|Inside were} $LIST. {\"Well done, $A!\" said $A.his $R.|Nothing was missing.}")


def seek(s):
    opening_two(s)
    spots = s.some([o for o in objects if o.props["size"] in "45" and o.name not in FIXTURES], 3)
    s.cast.update(X=spots[0], Y=spots[1], T=spots[2], Z=s.pick(walkers))
    s.say("{One day, they|They} played hide and seek. $A counted to {ten|twenty|a hundred}. $B {hid|crept} behind the $T.")
    s.say("\"I am coming, $B!\" {called|shouted} $A. $A.He looked behind the $X, but $B was not there. $A.He looked behind the $Y, but there was only $Z.a. It $Z.noise.")
    aside(s)
    s.say("Then $A looked behind the $T. \"{There you are|I found you|I can see you}, $B!\" {said|cried} $A.")
    if s.chance(0.5):
        s.say("Now $A hid behind the $X. $B looked behind the $Y, but $A was not there. Then $B looked behind the $X. \"{There you are|I found you}, $A!\" said $B.")
    ending(s)


def letter(s):
    opening_two(s)
    s.cast.update(P=s.pick(places), T=s.pick(foods), N=s.pick("Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday".split("|")), V=s.pick(["meet me at", "come to"]))
    s.say("{One morning|One day}, $A got a letter. {$A opened it {quickly|at the table}.|} It said: \"Dear $A, $V the $P on $N and bring $T.the. Your friend, $B.\"")
    if s.chance(0.6):
        s.say("\"What does it say?\" asked $A's $R. \"$V the $P on $N and bring $T.the,\" {said|read} $A.")
    s.say("On $N, $A took $T.the and {went|walked|ran} to the $P. $B was {already there|waiting}. {\"Did you bring $T.the?\" asked $B.|\"Hello, $A!\" said $B.}")
    gift(s, s.cast["T"], swap=False, thanks=0.4)
    s.say("They {ate it $T.how|sat at the $P until evening|had a {good|lovely} time at the $P}.")
    ending(s, 0.5)


def journey(s):
    """There and back: whom one meets on the way, one meets in the same order later."""
    opening(s)
    met = s.some(walkers, s.rng.randint(2, 3))
    s.cast.update(N=s.pick(places), ALL=listing([s.cast["A"].name] + ["the " + z.name for z in met]), LINE=listing(["the " + z.name for z in met]))
    s.say("{One day|One morning}, $A {wanted to go to|went to} the $N.")
    for i, who in enumerate(met):
        s.say(s.pick(["First" if i == 0 else "Then", "On the way" if i == 0 else "Next"]) + ", $A met $Z.a. {\"Come with me to the $N,\" said $A.|\"Where are you going?\" asked the $Z. \"To the $N,\" said $A.|The $Z $Z.noise and came along.}", Z=who)
    s.say("{So $ALL went on|They all walked together: $ALL}. {At last|Soon}, they {came to|reached} the $N. {It was {wonderful|beautiful|quiet}.|They {danced|sang|played} all day.}")
    s.say("{In the evening|Then}, $A {said good night to|went home with|thanked} $LINE. {It had been a good day.|$A was happy.|\"Come again,\" said $A.}")


PLOTS = [treasure, treasure, errand, errand, seek, letter, journey]
