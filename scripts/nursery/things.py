"""More nouns: objects, boxes and places, with what one does with each of them."""

MASS = {"soup", "cheese", "honey", "jam", "popcorn", "candy", "pudding"}

# object | what one does with it (past) | what it is like | where it belongs | size 1-5
OBJECTS = """
book|read|full of pictures|back on the shelf|2
letter|read|from far away|in the top drawer|1
map|read|old and torn|behind the clock|1
song book|read|full of old songs|beside the piano|2
newspaper|read|full of news|next to the armchair|2
coat|wore|warm and gray|on the hook|3
dress|wore|blue and pretty|in the wardrobe|3
crown|wore|shiny and golden|on a velvet pillow|2
mask|wore|funny and striped|over the mirror|2
boot|cleaned|covered with mud|by the front door|2
shoe|cleaned|brown and dusty|under the bench|2
mitten|wore|woolly and red|inside the coat pocket|1
bike|rode|fast and green|by the wall|5
scooter|rode|silver and light|in the garage|4
rocking horse|rode|wooden and painted|near the window|5
drum|played|round and loud|under the stairs|3
flute|played|high and sweet|in its long case|2
guitar|played|brown and smooth|beside the sofa|4
trumpet|played|loud and bright|on the music stand|3
violin|played|old and light|inside the cupboard|3
lamp|lit|tall and yellow|beside the bed|3
candle|lit|small and white|on the table|1
lantern|lit|round and bright|by the back door|2
torch|lit|long and heavy|between the stones|2
seed|planted|small and black|in a clay pot|1
tree|planted|young and thin|behind the house|5
rose|planted|pink and sweet|near the gate|2
cup|washed|full of tea|on the tray|2
plate|washed|white and round|beside the sink|2
bowl|washed|deep and blue|beside the plates|2
spoon|washed|shiny and long|beside the forks|1
picture|painted|full of colors|above the sofa|3
cart|fixed|made of wood|behind the barn|5
chair|fixed|broken and old|beside the table|4
clock|fixed|slow and dusty|above the door|3
robot|fixed|made of metal|near the computer|3
swing|fixed|tied with a rope|under the big tree|4
window|cleaned|dirty and wide|above the bench|4
mirror|cleaned|tall and clear|behind the door|4
telescope|used|long and black|by the attic window|4
hammer|used|heavy and strong|in the tool box|2
shovel|used|rusty but strong|behind the shed|3
rope|used|long and strong|on a nail|2
broom|used|stiff and dusty|in the corner|3
brush|used|soft and wet|beside the paint|1
pencil|used|sharp and yellow|inside the pencil case|1
umbrella|used|wide and black|in the umbrella stand|3
teddy bear|hugged|soft and brown|on the pillow|3
doll|hugged|made of cloth|in the doll house|2
blanket|hugged|soft and long|at the end of the bed|3
puzzle|finished|full of small pieces|under the board games|2
puppet|hugged|small and funny|over the little stage|2
model boat|painted|tiny and neat|in a glass bottle|2
sign|painted|square and clear|in front of the house|3
"""

# container | what is bigger | where it stands | size 1-5
BOXES = """
box|crate|in the hall|3
basket|box|by the stairs|2
bag|sack|on the hook|2
jar|pot|on the shelf|1
bucket|barrel|beside the well|2
drawer|cupboard|under the desk|2
suitcase|trunk|on top of the wardrobe|3
backpack|suitcase|behind the chair|2
chest|trunk|at the foot of the bed|4
pocket|bag|in the coat|1
pot|tub|over the fire|2
cage|pen|by the window|3
tent|cabin|in the garden|4
tin|jar|beside the bread|1
"""

PLACES = """
park|forest|beach|garden|market|school|farm|river|lake|meadow|library|bakery|harbor|village|castle
hill|zoo|museum|station|playground|island|valley|mill|bridge|tower|cottage|camp|pool|orchard|cave
""".split("\n")

TRAITS = """
kind|brave|shy|clever|cheerful|curious|gentle|patient|quiet|funny|careful|helpful|friendly|polite|lazy
stubborn|silly|hungry|sleepy|lonely|busy|proud|greedy|bossy|grumpy
""".split("\n")

LOOKS = "red|blue|green|yellow|purple|orange|white|black|brown|gray|golden|silver|striped|spotted|shiny|dusty|wooden|tiny|little|big|old|new|pretty|strange|lovely|plain".split("|")

SOUNDS = "b d f g k l m n p r s t v z bl br dr fl gr kl pl tr sk st sh th".split()
VOWELS = "a e i o u ee oo".split()
ENDS = "b d g k l m n p x t ck ng sh ff ll zz".split()

KIN = [("mother", "she"), ("father", "he"), ("grandmother", "she"), ("grandfather", "he"), ("aunt", "she"), ("uncle", "he")]
FOLK = "baker farmer teacher queen king wizard witch nurse captain princess".split()


def table(text):
    """The rows of one of the tables above, as lists of their fields."""
    return [line.split("|") for line in text.strip().split("\n")]


def words(lines):
    return [w for line in lines for w in line.split("|") if w]
