"""Plots about animals: walks, chases, pets, a day on the farm, a race."""
from chases import CHASERS, REST, allowed, chase, plain
from lexicon import PETS
from pieces import ending, opening, opening_two, places
from story import animals, movers

tame = [a for a in animals if a.name in "puppy kitten dog cat rabbit mouse hen duck turtle frog lamb goat".split()]
barnyard = [a for a in animals if a.name in "dog cat horse pony pig cow goat lamb hen duck goose rabbit kitten puppy mouse".split()]


def walk(s):
    opening_two(s)
    s.cast.update(Z=s.pick(animals), P=s.pick(places))
    s.say("{One day, they|One morning, they|Today they} {took a walk|went for a walk} {to|around} the $P.")
    chase(s)
    s.say("{\"What a {funny|silly} sight!\" said {$A|$B}.|$A and $B {laughed|giggled|watched}.|\"Did you see that, $B?\" said $A.}")
    if s.chance(0.5):
        s.say("{Then they saw|On the way back, they saw|Near the $P was} $Z.a. It $Z.noise{.| and $Z.esc.}")
    else:
        chase(s)
    ending(s)


def watching(s):
    """Begins with the chase itself; the same animal may try its luck again."""
    hunter = s.pick(CHASERS)
    s.child()
    who, prey = plain(s, hunter) if s.chance(0.7) else chase(s, hunter)
    s.cast.update(H=hunter, T=prey, E=s.pick(REST[:4]))
    for _ in range(s.rng.randint(1, 2)):
        s.say(s.pick(["", "after a while, the $H {looked up|sniffed the air|felt brave again}.", "$A {watched|saw it all} from the {gate|window|bench}.", "then the $H tried again."]))
        chase(s, hunter)
    s.say("{in the end|at last}, the $H was {tired|hungry}, and {it $E|$A gave it a $H.food}. {It slept $H.home.|\"Good $H!\" said $A.|It was a long day for the $H.|$A had to laugh.}")


def ball_game(s):
    """A toy gets away from the children who play with it."""
    opening_two(s)
    hunter, toy = allowed(s, CHASERS, movers)
    s.cast.update(H=hunter, T=toy)
    s.say("{One day, they|They} {played with $T.a|had $T.a|took $T.a outside}. {Suddenly|Then}, it $T.esc.")
    s.say("{\"Oh no, the $T!\" cried {$A|$B}.|\"Catch it!\" cried $B.|$A ran after it, but $A.he could not catch it.}")
    s.say(s.pick([
        "the $H chased the $T but could not catch it $T.where. {It was too $T.why.|It $T.esc.}",
        "the $H {chased|ran after} the $T but could not catch it because it was too {slow|lazy|tired}. The $H gave up.",
        "the $H {chased|ran after} the $T and caught it $T.where. It brought the $T back to $A.",
    ]))
    s.say("{at last, $B found the $T|then $B got the $T back|at last, $A had the $T again|so they played with something else|so they went home without the $T}.")
    ending(s)


def stray(s):
    opening(s)
    s.cast.update(D=s.pick(tame), N=s.pick(PETS) if s.chance(0.75) else s.word().capitalize())
    s.say("{One day|One evening|On the way home}, $A found a {little|small|lost|hungry} $D. It {was {cold|hungry|wet}|$D.noise}.")
    s.say("\"{Can|May} we keep it?\" asked $A. \"{Yes, if you take care of it|Of course},\" said $A.his $R. {$A named the $D $N.|\"I will call you $N,\" said $A.}")
    s.say("{$A gave $N a $D.food.|$N was hungry, so $A fetched a $D.food.} {$N ate it {at once|slowly}.|$N was happy.}")
    if s.chance(0.7):
        s.say("{But one day|One night|The next day}, $N {ran away|was gone}. \"$N! $N!\" {called|cried} $A. \"Where are you, $N?\" {At last|After a while}, $A found $N. $N was $D.where. {The $D $D.noise.|$A hugged $N.}")
    s.say("That night, $N slept $D.home. {\"Good night, $N,\" said $A.|$A and $N were friends forever.}")


def farm(s):
    """Who made which noise, and who eats what?"""
    opening(s, "farm")
    herd = s.some(barnyard, s.rng.randint(2, 3))
    s.cast.update(X=herd[0], Y=herd[1], Z=herd[-1])
    three = len(herd) == 3
    s.say("{One day|One morning}, $A {saw|met} $X.a" + (", $Y.a, and $Z.a" if three else " and $Y.a") + " on the farm. The $X $X.noise. The $Y $Y.noise." + (" The $Z $Z.noise." if three else ""))
    s.say("\"They are hungry, $A,\" said $A.his $R. $A gave the $X a $X.food. {Then|Next}, $A.he gave the $Y a $Y.food." + (" {At last|Finally}, the $Z got a $Z.food." if three else ""))
    if s.chance(0.4):
        chase(s, s.pick([h for h in herd if h in CHASERS] or CHASERS))
    s.say("{In the evening|When it got dark}, the $X went to sleep $X.home. The $Y slept $Y.home." + (" And the $Z slept $Z.home." if three else ""))
    s.say("{\"Which one do you like best?\" asked $A.his $R. \"{The $X|The $Y|I like them all},\" said $A.|\"Good night,\" said $A.|Then $A went to bed, too.}")


def race(s):
    one, two = s.some(animals, 2)
    s.cast.update(F=one, S=two, P=s.pick(places), Q=s.pick(places))
    s.say("{Once|One day|Long ago|Once upon a time}, a $F and a $S {had a race|met near the $P}. \"I am faster than you,\" said the $F. \"{We shall see|Let us race to the $Q|I do not think so},\" said the $S. {Off they went|The race began}.")
    s.say("the $F {was far ahead|ran first}, but it {stopped to {eat|rest|sleep|drink}|looked back and fell}.")
    s.say("the $S {went on|did not stop|kept going}, {step by step|slowly but surely}. It passed the $F and {won|won the race|came in first}.")
    s.say("the $S {got|received} {a medal|a gold cup|a ribbon} because it had won. The $F was {sad|ashamed} because it had lost.")
    s.say("\"{Never laugh at others|Slow and steady wins|You were better today},\" said {the $F|a wise old owl}. {Then the $S $S.noise{.| and $S.esc.}|They became good friends.}")


def friend_wanted(s):
    """A small animal asks others to play until one says yes."""
    a, b, c = s.some(animals, 3)
    s.cast.update(X=a, Y=b, Z=c)
    s.say("{Once upon a time|Once|Long ago}, there was a {little|lonely|young|small} $X. It lived $X.home. {The $X had no friends.|The $X wanted a friend.}")
    s.say("{One day|One morning}, it met $Y.a. \"Will you play with me?\" asked the $X. \"No, {I am busy|I am tired|I have no time},\" said the $Y, and it $Y.esc. {The $X was sad.|}")
    s.say("Then the $X met $Z.a. \"Will you play with me?\" asked the $X. \"Yes, {I will|I would love to},\" said the $Z. {They played $Z.where.|They played all day.|They {ran|danced|sang} until it was dark.}")
    s.say("{From then on|After that}, the $X {was not lonely any more|had a friend}. {In the evening, the $Z slept $Z.home, and the $X slept $X.home.|The $X and the $Z were {best|good} friends.}")


PLOTS = [walk, walk, walk, watching, watching, watching, ball_game, ball_game, stray, stray, farm, race, friend_wanted]
