"""Plots about giving, helping, and making up."""
from chases import CHASERS
from pieces import ending, opening, opening_two, places
from story import animals, foods
from talk import ON_THE_WAY, gift, presents


def present(s):
    opening_two(s)
    s.cast.update(T=s.pick(presents), F=s.pick(foods))
    s.say("It was $B's birthday. $A {gave|brought} $B.him a {present|big box|small box}. {\"Happy birthday, $B!\" said $A.|\"{What is it|What is inside}?\" asked $B.}")
    s.say("$B opened it. Inside was $T.a. It was $T.like. \"{Thank you|How lovely|I love it}, $A!\" said $B. $B.He $T.verb it {at once|all day|right away}.")
    gift(s, s.cast["F"], swap=True, thanks=0.3) if s.chance(0.7) else s.say("Then they ate $F.the $F.how.")
    ending(s, out=False)


def lunch(s):
    opening_two(s)
    s.cast.update(F=s.pick(foods), O=s.pick(["tree", "wall", "bench", "bridge"]))
    hungry = s.chance(0.5)
    s.say("{At noon|One day}, they sat {by|near} the $O and {wanted to eat|opened their bags}. $A had $F.a{| and some bread}, but $B {had forgotten the lunch|had nothing}.")
    gift(s, s.cast["F"], swap=False)
    s.say("$B ate it $F.how. {It was $F.like.|\"It is $F.like,\" said $B.}")
    gift(s, swap=True, help="thanked") if s.chance(0.4) else None
    ending(s)


def helping(s):
    opening_two(s)
    s.cast.update(P=s.pick(places), Z=s.pick(animals))
    s.say("{One day|One morning}, they {wanted to go|were on the way} to the $P. {It was a long way.|The path was steep.|}")
    gift(s, help=ON_THE_WAY)
    s.say(s.pick(["at the $P, they saw $Z.a. It $Z.noise.", "then they {came to|reached} the $P.", "soon they were {there|at the $P}."]))
    gift(s)
    ending(s)


def swap(s):
    """Each has what the other wants."""
    opening_two(s)
    s.cast.update(T=s.pick(presents), F=s.pick(s.pick([foods, presents])))
    if s.cast["T"].name == s.cast["F"].name:
        s.cast["F"] = foods[0]
    s.say("$A had $T.a. It was $T.like. $B had $F.a. It was $F.like. {\"Let us trade, $B,\" said $A.|\"Do you want to trade?\" asked $B.}")
    gift(s, s.cast["T"], swap=False, thanks=0.2)
    gift(s, s.cast["F"], swap=True, thanks=0.2)
    s.say("{Now $A had $F.the, and $B had $T.the.|So $A got $F.the, and $B got $T.the.} {Both were {happy|glad}.|\"That was a good trade,\" said {$A|$B}.}")


def ill(s):
    opening_two(s)
    s.cast.update(F=s.pick(foods))
    s.say("{One day|Today}, $B was {ill|sick} and had to stay in bed. $A {went to see $B.him|came to visit $B.him}. {\"How are you, $B?\" asked $A. \"{Not so well|A little better},\" said $B.|}")
    gift(s, s.pick(foods + presents), swap=False)
    s.say("$A {read $B.him a story|told $B.him a joke|sang $B.him a song}, and $B {laughed|smiled|felt better}. {They ate $F.the $F.how. It was $F.like.|}")
    s.say("{Soon|The next day|After three days}, $B was well again{.| and could play outside.} {\"Thank you for your help, $A,\" $B.he said.|$A was {so |very |}glad.}")


def quarrel(s):
    opening_two(s)
    s.cast.update(T=s.pick(presents))
    s.say("$A and $B both wanted the $T. \"{It is mine|I saw it first}!\" {cried|shouted} $A. \"No, {it is mine|I want it}!\" {cried|shouted} $B.")
    s.say("{$A's $R {came in|heard them}. \"Why are you fighting?\" $R.he asked.|They pulled and pulled until $A's $R came.} \"{First $A may have it, and then $B|You can share it|Good friends share},\" said $A.his $R.")
    s.say("\"I am sorry, $B,\" said $A. \"I am sorry, too, $A,\" said $B.")
    gift(s, s.cast["T"], thanks=0.3) if s.chance(0.6) else s.say("{First $A had the $T, and then $B.|They shared the $T from then on.} It was $T.like.")
    ending(s, out=False)


def blame(s):
    opening_two(s)
    s.cast.update(T=s.pick(foods), Z=s.pick(CHASERS))
    s.say("{In the kitchen|On the table} was $T.a. It was $T.like. \"{Do not eat it|It is for tonight},\" said $A.his $R.")
    guilty = s.pick(["$A", "$B", "the $Z"])
    s.say("{But when nobody looked|Later}, " + guilty + " {ate|took} $T.the.")
    s.say("\"Who {ate|took} $T.the?\" asked $A's $R. {Nobody answered.|Nobody said a word.|It was very quiet.}")
    if guilty == "the $Z":
        s.say("Then $A saw crumbs near the $Z. \"It was the $Z!\" said $A. The $Z $Z.noise and $Z.esc. {Everybody laughed.|They were not angry for long.}")
    else:
        s.say("At last, " + guilty + " {told the truth|stood up}. \"It was me. I am sorry,\" said " + guilty + ". \"{Thank you for telling the truth|I forgive you}, " + guilty + ",\" said $A.his $R.")
    s.say("{It was quiet for a while, and then they all laughed|That evening, they ate something else|Nobody was angry any more|They made a new one together}.")


def storm(s):
    opening_two(s)
    s.cast.update(Z=s.pick(animals), F=s.pick(foods))
    s.say("{Suddenly|That night|In the evening}, {a storm came|the sky turned dark|the lights went out}. $A was {afraid|scared} because {the thunder was loud|the wind howled|it was dark}.")
    gift(s, help=s.pick(["hugged", None]))
    s.say("$A and $B {told stories|drank hot milk|sang songs|sat close together} until {the storm was over|the rain stopped|morning came}.")
    s.say("{In the morning|Then|At last}, {the sun came out|a rainbow stood in the sky|the birds sang again}. {$Z.a came out and $Z.noise.|}")
    ending(s, out=False)


def share_out(s):
    """Gifts in a row: most of the story is who gets what and why."""
    opening_two(s)
    s.say("{One day, they {met|played} at $A's house|It was a day for presents|They wanted to be kind to each other}.")
    for n in range(s.rng.randint(2, 3)):
        gift(s, thanks=0.5)
    ending(s)


def lesson(s):
    """Nothing but gifts and their reasons, for practice; not among the usual plots."""
    s.pair(mixed=1)
    s.say("$A and $B were friends.")
    for n in range(s.rng.randint(4, 7)):
        gift(s, thanks=0.0)


PLOTS = [present, lunch, lunch, helping, helping, swap, ill, quarrel, blame, storm, share_out, share_out, share_out, share_out]
