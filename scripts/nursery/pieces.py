"""Sentences that any story may use: openings, weather, small events, endings."""
from things import LOOKS, PLACES, TRAITS, words

places, traits = words(PLACES), words(TRAITS)

WEATHER = [
    ("{sunny|warm|hot|bright}", "{the sun {was shining|was high in the sky}|there was not a cloud in the sky}"),
    ("{rainy|wet|gray}", "{the rain {fell|drummed} on the roof|there were puddles everywhere}"),
    ("{windy|stormy}", "{the wind blew hard|the trees shook in the wind|leaves flew through the air}"),
    ("{cold|snowy|frosty}", "{snow lay on the ground|the pond was frozen|the grass was white with frost}"),
    ("{foggy|misty|cloudy}", "{the hills were hidden in the fog|nobody could see very far}"),
]


def weather(s):
    kind, sign = s.pick(WEATHER)
    s.say(s.pick([f"it was a {kind} {{day|morning|afternoon}}.", f"it was a {kind} {{day|morning|afternoon}}, and {sign}."]))


def opening(s, place=None):
    """Introduce one child."""
    s.child()
    slots = dict(P=place or s.pick(places), Q=s.pick(traits))
    s.say(s.pick([
        "{Once upon a time|Once upon a time|Once|Long ago}, there was a $Q $A.child {named|called} $A.",
        "{Once upon a time|Once upon a time|Long ago}, a $Q $A.child named $A lived near the $P.",
        "$A was a $Q {little|young|small|} $A.child.",
        "$A was a $Q $A.child who lived near the $P with $A.his $R.",
        "$A lived in a {small|old|tall|little} house near the $P.",
        "Everybody knew that $A was {very|rather|} $Q.",
    ]), **slots)
    if s.chance(0.1):
        s.say("$A.He liked to {sing|read|draw|run|dance|play outside}.")


def opening_two(s, place=None):
    """Introduce two children."""
    s.pair()
    slots = dict(P=place or s.pick(places), Q=s.pick(traits))
    if s.chance(0.6):
        opening(s, place)
        s.say(s.pick([
            "$A had a {good|best|} friend {named|called} $B.",
            "$A's {best|good} friend was {called|a $B.child called|a $B.child named} $B.",
            "$A {liked|loved} to play with {$A.his friend $B|$B}.",
            "$A.His {best |}friend $B lived {next door|in the house next door|near the $P}.",
        ]).replace("a  friend", "a friend"), **slots)
        return
    s.say(s.pick([
        "{Once upon a time|Long ago}, there were two friends, $A and $B.",
        "$A and $B were {good|best|close} friends.",
        "$A and $B {lived near the $P|played at the $P every day|went to the same school}.",
        "$A was a $Q $A.child, and $B was $A.his {best |}friend.",
    ]), **slots)


def aside(s, chance=0.25):
    """Something small that could happen in any story."""
    if not s.chance(chance):
        return
    s.say(s.pick([
        "$A {smiled|laughed|nodded|waited|sighed|giggled}.",
        "$A.He was {very|so|a little|} {glad|excited|surprised|curious}.",
        "$A took a deep breath.",
        "the clock struck {two|three|four|five|six|ten}.",
        "a {cloud|bus|truck|bird} {passed by|went by}.",
        "\"{Oh dear|Oh my|Well, well|How strange|Let me see}!\" said $A.",
        "$A.His $R {smiled|watched|called} from the {window|door|porch}.",
        "it was {getting late|nearly noon|very quiet}.",
        "$A wore a $L {jacket|sweater|shirt|cap} that day.",
    ]), L=s.pick(LOOKS[:12]))


def ending(s, chance=1.0, out=True):
    """A last sentence that suits most stories; out tells whether the children are away from home."""
    if not s.chance(chance):
        return
    texts = [
        "{That night|That evening|At bedtime}, $A told $A.his $R {about it|the whole story|everything}.",
        "$A was {happy|proud|glad} {all day|for the rest of the day}.",
        "$A slept {well|deeply} that night.",
        "It {was|had been} {the best day|a good day|a day to remember}.",
        "\"{I will never forget this day|What a wonderful day|That was fun}!\" said $A.",
    ]
    if out:
        texts += ["$A went home {with a smile|feeling happy|for dinner|before dark}."]
    if "B" in s.cast:
        texts += ["$A and $B {" + ("walked home together|laughed all the way home|" if out else "") + "stayed good friends|were happy}.", "And $A and $B {were friends forever|played together until dark}."] * 3
    s.say(s.pick(texts))
    if s.chance(0.15):
        s.say("The end.")
