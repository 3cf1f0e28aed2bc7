"""Nouns and names of the story world, with the properties that decide what they can do."""

GIRLS = "Mia Lily Anna Rosa Ella Ruby Nora Ivy Clara Lucy Hana Zoe Maya Sara Emma Tess June Alice Fay Olive".split()
BOYS = "Tom Ben Max Sam Leo Jack Finn Noah Omar Hugo Ravi Eli Oscar Theo Paul Adam Luke Milo Gus Toby".split()

# animal | sound | what it does when it is chased away | where | why it is hard to catch | food | home
ANIMALS = """
dog|barked loudly|ran down the road;ran behind the barn|on the road|quick|bone|in the yard
puppy|gave a little bark|ran around the house;ran under the porch|on the porch|playful|biscuit|beside the stove
cat|meowed|jumped onto the wall;climbed onto the roof|on the roof|clever|bowl of milk|on the sofa
kitten|meowed softly|crawled under the bed;ran behind the curtain|behind the curtain|tiny|dish of cream|on a soft pillow
rabbit|twitched its nose|hopped into its hole;hopped across the field|in the tall grass|fast|carrot|in a hutch
squirrel|chattered|climbed up the oak tree;raced along the branch|up in the tree|nimble|acorn|near the old oak
mouse|squeaked|slipped through a crack;ran into the wall|behind the stove|tiny|bit of cheese|under the floor
fox|yelped|ran into the forest;trotted over the hill|between the trees|sly|plum|under the roots
bear|growled|walked into the cave;trotted back to the woods|in the woods|strong|jar of honey|inside a cave
frog|croaked|jumped into the pond;leaped over the log|by the pond|jumpy|beetle|near the pond
duck|quacked|swam across the pond;paddled to the other side|on the water|quick|slice of bread|by the lake
bird|chirped|flew over the roof;flew back to its nest|above the trees|light|worm|in a nest
hen|clucked|fluttered over the fence;ran into the coop|near the coop|noisy|handful of corn|in the coop
horse|neighed|galloped across the meadow;galloped down the lane|across the meadow|fast|apple|in the stable
pony|neighed softly|trotted down the lane;galloped around the barn|along the lane|frisky|bunch of hay|in the stable
pig|oinked|ran through the mud;rolled into the ditch|in the mud|muddy|potato|behind the barn
cow|mooed|walked to the far gate;lay down in the clover|near the gate|big|bunch of clover|in the barn
goat|bleated|climbed up the rocks;jumped over the wall|on the rocks|stubborn|cabbage|on the hill
lamb|bleated|skipped across the field;ran back to its mother|between the sheep|lively|bottle of milk|near its mother
turtle|blinked slowly|slid into the river;pulled in its head|in the shallow water|shy|leaf of lettuce|by the river
butterfly|fluttered its wings|flew over the flowers;fluttered up to the sky|in the air|light|drop of nectar|among the flowers
bee|buzzed|buzzed around the flowers;flew into the hive|around the flowers|busy|pink flower|in the hive
fish|splashed|swam under the bridge;dived to the bottom|under the water|slippery|crumb|in the stream
crab|clicked its claws|crawled under a rock;dug into the sand|in the wet sand|quick|shrimp|under a rock
owl|hooted|flew into the dark;flew up to the tower|in the dark|silent|beetle|up in the tower
monkey|chattered|swung through the branches;climbed to the top|in the branches|nimble|banana|up in a tree
snail|wiggled its horns|hid inside its shell;crept under a leaf|under a leaf|small|green leaf|under a flowerpot
hedgehog|sniffed|rolled into a prickly ball;hid under the leaves|under the hedge|prickly|beetle|under the hedge
deer|stamped its foot|leaped over the stream;ran into the forest|between the trees|fast|bunch of clover|in the forest
goose|honked|waddled into the reeds;flew over the lake|in the reeds|loud|handful of corn|by the lake
"""

# chaseable thing | how it gets away | where | why it is hard to catch
MOVERS = """
ball|rolled away;rolled down the hill;bounced over the fence|on the steep hill|bouncy
balloon|floated away;floated over the houses;drifted up to the clouds|up in the air|light
kite|flew away;flew higher and higher;sailed over the trees|up in the sky|high
leaf|blew away;danced in the wind;drifted across the yard|in the wind|light
hat|blew away;tumbled along the street;landed in a puddle|on the windy street|light
bubble|popped;drifted away;floated up and popped|in the air|round
feather|blew away;drifted over the wall;floated down the stairs|in the breeze|light
hoop|rolled away;rolled along the path;wobbled and fell over|along the path|fast
wagon|rolled away;rolled into the ditch;rattled down the lane|along the lane|heavy
sled|slid away;slid down the slope;slid into the snow|on the icy slope|fast
boat|drifted away;sailed under the bridge;floated down the stream|on the stream|far
paper plane|glided away;glided over the hedge;landed on the roof|behind the hedge|quick
marble|rolled away;rolled under the table;rolled into a corner|under the table|tiny
coin|rolled away;fell through the grate;spun in a circle|along the pavement|small
scarf|blew away;got stuck on a branch;flapped in the wind|in the wind|long
barrel|rolled away;rolled into the river;bumped against the wall|near the slope|heavy
toy car|raced away;zoomed under the chair;crashed into the wall|on the floor|fast
toy train|raced away;went around the bend;rattled into the tunnel|along the track|fast
"""

# food | how it tastes | how one eats it | where it is kept
FOODS = """
apple|red and crunchy|down to the core|in the fruit bowl
pear|green and juicy|down to the stem|on the window sill
peach|fuzzy and juicy|over the sink|in the fruit bowl
plum|dark and sour|in two bites|under the plum tree
banana|yellow and soft|like a little monkey|in the fruit basket
orange|round and sweet|piece by piece|beside the grapes
carrot|orange and crisp|like a rabbit|in the cellar
cake|tall and creamy|crumb by crumb|on a silver plate
cookie|flat and crisp|with a glass of milk|inside the cookie tin
pie|hot and flaky|with cream|by the open window
muffin|full of berries|while it was warm|under a clean cloth
pancake|thin and golden|with syrup|near the stove
sandwich|full of cheese|in four bites|in the lunch box
soup|hot and salty|with a big spoon|in the iron pot
cheese|yellow and salty|on a cracker|in the pantry
egg|boiled and warm|with a pinch of salt|inside the carton
honey|golden and sticky|from a spoon|on the highest shelf
jam|red and sticky|on toast|behind the flour
pudding|brown and wobbly|after dinner|in the fridge
candy|hard and sour|on the way home|inside a paper bag
ice cream|cold and smooth|before it melted|in the freezer
popcorn|light and salty|by the handful|inside a striped bag
"""

PETS = "Spot Bella Coco Daisy Rex Buddy Ginger Pepper Snowy Biscuit Patch Lucky Poppy Rusty Socks Fluffy".split()
