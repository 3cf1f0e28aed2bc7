"""Plots in which words come again: spells, songs, word games, parades, stories in stories."""
from pieces import ending, opening_two, places, traits, weather
from story import animals, boxes, foods, objects
from talk import listing
from things import FOLK, LOOKS

POOL = [n.name for n in animals + foods + objects + boxes] + LOOKS + traits + places
POOL += "one two three four five six seven eight nine ten run jump sing sleep eat read walk swim dig sun moon star rain snow wind up down left right yes no".split()


def magic(s):
    opening_two(s)
    s.cast.update(S=" ".join(s.word() for _ in range(s.rng.randint(1, 3))), T=s.pick(objects), L=s.pick(LOOKS[:12]), F=s.pick(FOLK), N=s.pick("door gate box chest cave".split()))
    s.say("{Behind the hill|In the {attic|cellar|old tower}|Deep in the woods}, $A {found|saw} a $L $N. It {was locked|would not open}.")
    s.say("An old $F {came by|sat beside it}. \"You must say the magic words: $S,\" said the $F.".replace("words", "words" if " " in s.cast["S"] else "word"))
    s.say("\"$S!\" {said|shouted|called} $A. {Nothing happened.|The $N {shook|creaked}.} {\"Say it again, $A,\" said $B. \"$S!\" said $A.|\"$S!\" said $B, too.|\"$S! $S!\" they called together.}")
    s.say("{Slowly|All at once|With a bang}, the $N opened. Inside was $T.a. It was $T.like. {$A and $B never forgot the words $S.|They took the $T and put it $T.home.|{$A|$B} took the $T home.}")
    ending(s, 0.5)


def song(s):
    """A rhyme in an unknown tongue, heard and sung again."""
    weather(s)
    s.pair()
    line = " ".join(s.word(1, 2) for _ in range(s.rng.randint(3, 6)))
    s.cast.update(L=line, Z=s.pick(["bird", "wind", "old clock", "river"]), P=s.pick(places))
    s.say("$A and $B {sat|walked} near the $P. {$A {sang|hummed} a new song: \"$L.\"|The $Z sang, \"$L.\"|$A had learned a rhyme: \"$L.\"}")
    s.say("{\"What a strange song!\" said $B.|\"How does it go?\" asked $B.|$B liked it.} \"$L,\" {sang|said} $A. \"$L,\" {sang|answered|repeated} $B.")
    s.say("{All the way home|That evening|The next day}, they sang it {again|together}: \"$L.\"")
    ending(s)


def echo(s):
    """One child says words in any order, the other says them again."""
    weather(s) if s.chance(0.5) else None
    s.pair()
    s.say("$A and $B played {a word game|a memory game|the echo game}. {One said some words, and the other had to say them again.|\"Say what I say, $B,\" said $A.}")
    for n in range(s.rng.randint(2, 3)):
        one, two = (s.cast[k] for k in ("AB" if n % 2 == 0 else "BA"))
        words = listing(s.some(POOL, s.rng.randint(3, 6)), s.pick([" and ", " ", " "])) if s.chance(0.8) else " ".join(s.word(1, 2) for _ in range(s.rng.randint(3, 5)))
        s.say("{\"$L,\" said $V. \"$L,\" {said|repeated|answered} $W.|$V {began|said}: \"$L.\" $W {repeated|said}: \"$L.\"}", V=one, W=two, L=words)
        s.say(s.pick(["\"{Good|Right|Very good}, $W!\" said $V.", "That was {hard|easy}.", ""]), V=one, W=two)
    s.say("{\"You are good at this,\" said $A's $R.|$A and $B {laughed|giggled}.|Then they were tired of words.}")
    ending(s, 0.6)


def parade(s):
    """A row of animals that comes by twice."""
    opening_two(s)
    s.cast.update(P=s.pick(places), LIST=listing(["the " + z.name for z in s.some(animals, s.rng.randint(3, 5))]), L=s.pick(LOOKS[:12]))
    s.say("{One day|On Sunday}, there was a parade {at|near} the $P. {First|Past $A} came $LIST. {Everybody clapped.|They all wore $L hats.}")
    s.say("$B came late. \"{What did I miss|Who was there}, $A?\" asked $B. \"{You missed|I saw} $LIST,\" said $A.")
    s.say("{But then they came back|Then they came around once more}: $LIST. {$B was glad.|\"There they are!\" cried $B.}")
    ending(s, 0.8)


def bedtime(s):
    """A story within the story."""
    s.child()
    names = s.some("Bim Zara Odo Pip Lulu Kiko Mog Tara Dodo Nils".split(), 2) if s.chance(0.7) else [s.word().capitalize() for _ in range(2)]
    s.cast.update(N=names[0], M=names[1], T=s.pick(foods), O=s.pick(FOLK), K=s.pick(["giant", "dragon", "fairy", "ghost", "wizard"]), P=s.pick(places), Q=s.pick(places))
    s.say("It was bedtime, but $A {was not tired|could not sleep}. \"Please tell me a story,\" said $A. {$A.His $R sat down on the bed and began.|So $A's $R told $A.him a story.}")
    s.say("\"{Once upon a time|Long ago}, there was a {little|good|big|} $K {named|called} $N. $N had a friend named $M. {$N was big, and $M was small.|$M lived near the $P, and $N lived near the $Q.|$N loved $T.the, but $M did not like it.}")
    s.say(s.pick([
        "{One day|One night}, the $O caught $M. $N {ran|hurried} to help $M, and the $O {fled|was sorry}.\"",
        "$N called, 'Where are you, $M?' $M answered, 'I am here, $N.' Then $N and $M went to sleep.\"",
        "$N said to $M, 'You are my best friend.' $M said, 'So are you, $N.' And they lived happily ever after.\"",
    ]))
    s.say("{$A closed $A.his eyes and dreamed of $N and $M.|Soon $A was asleep.|\"Good night, $A,\" said $A.his $R. \"Good night,\" said $A.}")


PLOTS = [magic, magic, song, song, echo, echo, parade, bedtime]
