"""Plots about things: lost, packed, chosen, mended, baked, planted."""
from chases import CHASERS
from choices import FIXTURES, LUGGAGE, OUTSIDE, STORE, choose, fit
from pieces import ending, opening, opening_two, places
from story import foods, objects
from talk import gift, listing

movable = [o for o in objects if o.name not in FIXTURES]


def lost(s):
    opening_two(s)
    t, x, y = s.some(movable, 3)
    s.cast.update(T=t, X=x, Y=y)
    s.say("{One day|That day}, $A could not find $A.his $T. It was $T.like. {\"Where is my $T?\" {asked|cried} $A.|\"I cannot find my $T,\" said $A.}")
    s.say("$A looked $X.home, but there was only the $X. {then, $A.he looked $Y.home and found the $Y.|}")
    s.say("\"Did you look $T.home?\" asked $B. {So they looked $T.home.|They went to see.} {At last|There}, $A found the $T. {It was $T.home.|\"There it is!\" cried $A.}")
    s.say("$A {was so {glad|happy} that $A.he {sang|danced|laughed}|$T.verb it {at once|all day} and put it $T.home}.")
    gift(s) if s.chance(0.3) else None
    ending(s, 0.8, out=False)


def packing(s):
    opening(s)
    s.cast.update(P=s.pick(places))
    s.say("{One day, $A|$A} wanted to {go on a trip|go to the $P|visit $A.his cousin}. $A.He {began to pack|got ready}.")
    for n in range(s.rng.randint(1, 3)):
        if n:
            s.say(s.fresh(["\"I need one more thing,\" said $A.", "but $A was not done yet.", "$A.His $R came to help."]))
        fit(s, LUGGAGE)
    s.say("{At last|Finally}, {everything was ready|the bags were closed|$A could leave}. {\"{Have a good trip|Come back soon}, $A!\" said $A.his $R.|The {bus|train} was waiting.|The trip could begin.}")


def playroom(s):
    """Choosing among things, again and again."""
    opening(s)
    s.say(s.pick(["{One day|One morning}, $A was {bored|hungry|alone at home}.", "it was raining, so $A stayed {inside|at home}.", "after school, $A came home.", "$A had nothing to do."]))
    for n in range(s.rng.randint(2, 3)):
        choose(s)
    ending(s, out=False)


def picnic(s):
    opening_two(s)
    s.cast.update(P=s.pick(places))
    s.say("{One day, they|They} {had a picnic|went for a picnic} {by|near} the $P.")
    choose(s, OUTSIDE)
    s.say("{\"Is it good, $A?\" asked $B. \"Yes, it is,\" said $A.|$B {smiled|laughed}.|Then $B sat down beside $A.him.}")
    gift(s, s.pick(foods)) if s.chance(0.6) else choose(s, OUTSIDE)
    ending(s)


def tidy(s):
    """Everything has its place."""
    opening(s)
    x, y, z = s.some(movable, 3)
    s.cast.update(X=x, Y=y, Z=z)
    s.say("$A's room was {a mess|not tidy}. \"{Please tidy up|Please clean your room|It is time to tidy up}, $A,\" said $A.his $R.")
    s.say("$A took the $X and put it $X.home. {Then|Next}, $A.he took the $Y and put it $Y.home. {At last|Finally}, $A.he put the $Z $Z.home.")
    fit(s, STORE) if s.chance(0.5) else choose(s)
    s.say("\"Where is the $X?\" asked $A.his $R. \"It is $X.home,\" said $A. {\"And where is the $Z?\" \"It is $Z.home.\"|} {\"Well done, $A!\" said $A.his $R.|Now the room was {clean|tidy}.}")


def repair(s):
    opening_two(s)
    s.cast.update(T=s.pick([o for o in objects if o.props["size"] in "2345" and o.name not in ("tree", "rose")]), Z=s.pick(CHASERS))
    s.cast["U"] = s.pick([o for o in objects if o.name in ("hammer", "brush", "rope")], s.cast["T"])
    s.say("{Crash|Bang|Snap}! The $T was broken because {the $Z had {bumped into|jumped on} it|the wind had pushed it over|it was very old}.")
    s.say("{\"Oh no, my $T!\" cried $A.|$A was sad, for $A.he loved the $T.} {\"We can {mend|repair|fix} it,\" said $B.|\"Do not be sad, $A,\" said $B.}")
    s.say("$B {fetched|brought} the $U. It was $U.home. {They worked {all day|for hours}.|$A held the $T while $B used the $U.}")
    s.say("{Soon|In the evening|At last}, the $T was {as good as new|whole again}. $A {hugged|thanked} $B.him.")
    gift(s, thanks=0.3) if s.chance(0.5) else None
    ending(s, out=False)


def baking(s):
    opening_two(s)
    cake = s.pick([f for f in foods if f.name in "cake pie soup pudding muffin".split()])
    parts = s.some("flour sugar butter milk eggs salt honey nuts berries lemons cream water".split(), s.rng.randint(2, 4))
    s.cast.update(T=cake, LIST=listing(parts), Z=s.pick(CHASERS))
    s.say("{One day, they|They} wanted to make $T.a. \"We need $LIST,\" said {$A|$B}.")
    s.say("$A {put|mixed} $LIST {into a big bowl|in a pot|together} and {stirred|stirred well}.")
    s.say("{Soon|After an hour|In the evening}, $T.the was ready. It was $T.like.")
    if s.chance(0.4):
        s.say("{But|Then} the $Z {came in|ran into the kitchen} and ate $T.the! {\"Bad $Z!\" cried $A.|$A had to laugh.} The $Z $Z.esc. So they made another $T with $LIST.")
    s.say("$A and $B ate $T.the $T.how.")
    ending(s, out=False)


def garden(s):
    opening(s)
    s.cast.update(T=s.pick("bean sunflower pumpkin tulip tomato turnip melon".split()), Z=s.pick(CHASERS))
    s.say("{In spring|One day}, $A planted a $T seed{.| that $A.his $R had given $A.him.} Every {day|morning|evening}, $A.he {watered|looked at} it.")
    s.say("\"{When will it grow|Why does it not grow}?\" asked $A. \"{You must be patient|Wait and see|It needs the sun}, $A,\" said $A.his $R.")
    s.say("{One day|After a week}, a {green|tiny} leaf came out of the {ground|earth}. It grew {taller and taller|bigger and bigger}.")
    if s.chance(0.5):
        s.say("{But|Then} the $Z {wanted to eat|dug up the ground near|ran into} the $T. {$A chased the $Z away. It $Z.esc.|\"Stop!\" cried $A, and the $Z $Z.esc.}")
    s.say("In {summer|autumn}, the $T was {huge|as tall as $A|big and beautiful}. {$A pulled, and $A.his $R pulled, too.|\"Well done, $A!\" said $A.his $R.|$A was very proud.}")


PLOTS = [lost, packing, packing, packing, packing, playroom, playroom, playroom, picnic, picnic, tidy, repair, baking, garden]
