// The page as a whole: what is chosen, and what follows from a click or a key.

const byId = (id) => document.getElementById(id);
const darkByDefault = window.matchMedia("(prefers-color-scheme: dark)");

const state = {
  layer: 0,
  head: 0, // table.nHeads stands for the mean of the layer
  row: table.nRows - 1,
  column: 0,
  hover: null, // {row, column}
  isAsking: true, // the text shows what the chosen token attends to, rather than what attends to it
  isLog: false,
  hasOwnRange: !description.causal, // layers of a residual stream differ too much for one range
  theme: darkByDefault.matches ? "dark" : "light",
};

const drawing = { isDue: false, shown: "", coloursOfHeads: "" };

function magnitudeFor(layer, head) {
  if (state.hasOwnRange) return panelMagnitude(layer, head);
  return table.what === "weights" ? 1 : largestMagnitude(ranges);
}

function scaleFor(layer, head) {
  return makeScale(magnitudeFor(layer, head), state.isLog, state.theme);
}

function currentPanel() {
  const { layer, head, theme } = state;
  return { layer, head, theme, numbers: panelNumbers(layer, head) };
}

// Takes over changes, and draws once before the next frame.
function update(changes) {
  Object.assign(state, changes);
  if (drawing.isDue) return;
  drawing.isDue = true;
  requestAnimationFrame(draw);
}

function draw() {
  drawing.isDue = false;
  document.documentElement.dataset.theme = state.theme;
  const panel = currentPanel();
  const scale = scaleFor(state.layer, state.head);
  drawMap(panel, scale, state);
  showReadout(panel);
  const shown = [
    state.layer,
    state.head,
    state.row,
    state.column,
    state.isAsking,
    state.isLog,
    state.hasOwnRange,
    state.theme,
  ].join("/");
  if (drawing.shown === shown) return; // only the pointer moved
  drawing.shown = shown;
  hideTip(); // it speaks of what was there before
  drawLegend(byId("legend"), scale);
  byId("panel-title").textContent = panelName(state.layer, state.head);
  markChosenHead(state.layer, state.head);
  if (table.hasText) shadeText(panel, scale, chosenToken(), state.isAsking);
  pressButtons();
  repaintHeadsIfRecoloured();
}

function repaintHeadsIfRecoloured() {
  const colours = [state.isLog, state.hasOwnRange, state.theme].join("/");
  if (drawing.coloursOfHeads !== colours) repaintHeads(scaleFor);
  drawing.coloursOfHeads = colours;
}

function pressButtons() {
  const pressed = {
    "scale-linear": !state.isLog,
    "scale-log": state.isLog,
    "range-all": !state.hasOwnRange,
    "range-own": state.hasOwnRange,
    "direction-to": state.isAsking,
    "direction-from": !state.isAsking,
    theme: state.theme === "dark",
  };
  for (const [id, isPressed] of Object.entries(pressed)) byId(id).setAttribute("aria-pressed", String(isPressed));
}

// Sentences about a cell.

function placeOnAxis(axis, index, areTokens) {
  return areTokens ? wordWithPosition(index) : `${axis.name} ${axis.values[index]}`;
}

function cellSentence(row, column, numbers) {
  const value = document.createElement("span");
  value.className = "value";
  value.textContent = formatNumber(numberAt(numbers, row, column), state.head);
  const verb = table.columnsAreTokens ? ` ${words.asks} ` : ", ";
  const places = [
    placeOnAxis(table.rows, row, table.rowsAreTokens),
    placeOnAxis(table.columns, column, table.columnsAreTokens),
  ];
  return [places[0], verb, places[1], "\u2002", value];
}

function spokenPlace(axis, index, areTokens) {
  return areTokens ? `\u201c${tokenLabels[index]}\u201d at ${index}` : `${axis.name} ${axis.values[index]}`;
}

function spokenCell(panel) {
  const value = formatNumber(numberAt(panel.numbers, state.row, state.column), state.head);
  const row = spokenPlace(table.rows, state.row, table.rowsAreTokens);
  const column = spokenPlace(table.columns, state.column, table.columnsAreTokens);
  return `${row} ${words.asks} ${column}: ${value}`;
}

function showReadout(panel) {
  const { row, column } = state.hover ?? state;
  byId("readout").replaceChildren(...cellSentence(row, column, panel.numbers));
  map.window.setAttribute("aria-label", `${panelName(state.layer, state.head)}. ${spokenCell(panel)}`);
}

function announce(sentence) {
  byId("live").textContent = sentence;
}

// Choosing.

function chosenToken() {
  return state.isAsking ? state.row : state.column;
}

function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}

function chooseCell(row, column) {
  const newRow = clamp(row, 0, table.nRows - 1);
  update({ row: newRow, column: clamp(column, 0, table.visible[newRow] - 1), hover: null });
  bringCellIntoView(state.row, state.column);
  bringTokenIntoView(chosenToken());
  announce(spokenCell(currentPanel()));
}

function chooseHead(layer, head) {
  update({ layer: clamp(layer, 0, table.nLayers - 1), head: clamp(head, 0, heads.nColumns - 1) });
  announce(`${panelName(state.layer, state.head)}. ${spokenCell(currentPanel())}`);
}

// The next or the previous head, over the ends of the layers.
function stepHead(step) {
  const count = heads.nColumns * table.nLayers;
  const index = (state.layer * heads.nColumns + state.head + step + count) % count;
  chooseHead(Math.floor(index / heads.nColumns), index % heads.nColumns);
}

// A token in the text: the other end of the chosen cell becomes the one with the largest number.
function chooseToken(index) {
  const { numbers } = currentPanel();
  let best = null;
  for (let other = 0; other < text.spans.length; ++other) {
    const number = numberBetween(numbers, index, other, state.isAsking);
    if (number !== undefined && (best === null || number > best.number)) best = { other, number };
  }
  if (best === null) return;
  if (state.isAsking) chooseCell(index, best.other);
  else chooseCell(best.other, index);
}

function setDirection(isAsking) {
  const token = chosenToken();
  update({ isAsking });
  chooseToken(token);
}

function changeZoom(factor) {
  setZoom(factor === 0 ? 1 : map.zoom * factor, state.row, state.column);
  update({});
}

// Keys.

const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

const keysAnywhere = {
  "[": () => stepHead(-1),
  "]": () => stepHead(1),
  l: () => update({ isLog: !state.isLog }),
  a: () => table.hasText && setDirection(!state.isAsking),
  "+": () => changeZoom(2),
  "=": () => changeZoom(2),
  "-": () => changeZoom(0.5),
  0: () => changeZoom(0),
};

const keysInMap = {
  PageUp: () => stepHead(-1),
  PageDown: () => stepHead(1),
  Home: () => chooseCell(state.row, 0),
  End: () => chooseCell(state.row, table.visible[state.row] - 1),
};

// [keys, what they do, whether this page has what they move].
const keyHelp = [
  [["\u2190", "\u2191", "\u2192", "\u2193"], "move where the focus is: table, text or heads", true],
  [["Shift", "\u2190", "\u2192"], "previous, next head", table.nHeads > 1],
  [["Shift", "\u2191", "\u2193"], "layer above, below", table.nLayers > 1],
  [["[", "]"], "previous, next picture; in the table also Page Up, Page Down", table.hasManyPanels],
  [["Home", "End"], "start, end of the row", true],
  [["A"], "the text the other way round", table.hasText],
  [["L"], "linear or logarithmic colours", true],
  [["+", "\u2212", "0"], "larger, smaller, fit", true],
];

function makeKeyCaps(keys) {
  const term = document.createElement("dt");
  for (const key of keys) {
    const cap = document.createElement("kbd");
    cap.textContent = key;
    term.append(cap, " ");
  }
  return term;
}

function showKeyHelp() {
  for (const [keys, meaning] of keyHelp.filter(([, , applies]) => applies)) {
    const definition = document.createElement("dd");
    definition.textContent = meaning;
    byId("keys").append(makeKeyCaps(keys), definition);
  }
}

function moveByArrow([down, right], event) {
  if (event.shiftKey) {
    chooseHead(state.layer + down, state.head + right);
    if (heads.element.contains(event.target)) focusHead(state.layer, state.head);
  } else if (heads.element.contains(event.target)) {
    chooseHead(state.layer + down, state.head + right);
    focusHead(state.layer, state.head);
  } else if (text.element.contains(event.target)) {
    chooseToken(clamp(chosenToken() + down + right, 0, text.spans.length - 1));
    focusToken(chosenToken());
  } else {
    chooseCell(state.row + down, state.column + right);
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isIn = (part) => part.contains(event.target);
  const isInMap = isIn(map.window);
  // Elsewhere the arrows scroll the page.
  const arrow = isInMap || isIn(heads.element) || isIn(text.element) ? arrows[event.key] : undefined;
  const action = arrow
    ? () => moveByArrow(arrow, event)
    : (isInMap && keysInMap[event.key]) || keysAnywhere[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}

// The pointer.

function showTip(event, content) {
  const tip = byId("tip");
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = event.clientX + 16 + box.width > window.innerWidth ? event.clientX - box.width - 12 : event.clientX + 16;
  const y = event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 12 : event.clientY + 18;
  tip.style.transform = `translate(${Math.max(0, x)}px, ${Math.max(0, y)}px)`;
}

function hideTip() {
  byId("tip").hidden = true;
}

function onMapPointer(event) {
  const hover = cellAt(event);
  update({ hover });
  if (hover) showTip(event, cellSentence(hover.row, hover.column, currentPanel().numbers));
  else hideTip();
}

function onTextPointer(event) {
  const span = event.target.closest(".token");
  if (!span) return hideTip();
  const other = Number(span.dataset.position);
  const [row, column] = state.isAsking ? [chosenToken(), other] : [other, chosenToken()];
  if (isVisible(row, column)) showTip(event, cellSentence(row, column, currentPanel().numbers));
  else hideTip();
}

function onMapClick(event) {
  const cell = cellAt(event);
  if (cell) chooseCell(cell.row, cell.column);
}

function listen() {
  document.addEventListener("keydown", onKey);
  map.canvas.addEventListener("pointermove", onMapPointer);
  map.canvas.addEventListener("pointerleave", () => {
    update({ hover: null });
    hideTip();
  });
  map.canvas.addEventListener("click", onMapClick);
  map.window.addEventListener("scroll", () => {
    update({ hover: null });
    hideTip();
  });
  text.element.addEventListener("pointermove", onTextPointer);
  text.element.addEventListener("pointerleave", hideTip);
  const clicks = {
    "scale-linear": () => update({ isLog: false }),
    "scale-log": () => update({ isLog: true }),
    "range-all": () => update({ hasOwnRange: false }),
    "range-own": () => update({ hasOwnRange: true }),
    "direction-to": () => setDirection(true),
    "direction-from": () => setDirection(false),
    "zoom-in": () => changeZoom(2),
    "zoom-out": () => changeZoom(0.5),
    "zoom-fit": () => changeZoom(0),
    theme: () => update({ theme: state.theme === "dark" ? "light" : "dark" }),
  };
  for (const [id, action] of Object.entries(clicks)) byId(id).addEventListener("click", action);
  darkByDefault.addEventListener("change", (event) => update({ theme: event.matches ? "dark" : "light" }));
  window.addEventListener("resize", () => {
    sizeHeads();
    layOutMap();
    drawing.shown = "";
    update({});
  });
}

const titles = {
  weights: "Attention weights",
  scores: "Attention scores",
  q: "Queries",
  k: "Keys",
  v: "Values",
  residual: "Residual stream",
  embedding: "Token embeddings",
  similarity: "Similarity of token embeddings",
};

function showTitle() {
  byId("title").textContent = titles[table.what] ?? capitalised(table.what.replaceAll("_", " "));
  const count = description.tokens.length;
  byId("subtitle").textContent = [
    tokenParts(description.model)
      .map((part) => part.text)
      .join(""),
    `${count} ${count === 1 ? "token" : "tokens"}`,
  ]
    .filter((part) => part !== "")
    .join(" \u00b7 ");
  document.title = `${byId("title").textContent} \u00b7 qkv`;
  hideWhatDoesNotApply();
  byId("precision").textContent = describePrecision();
}

function hideWhatDoesNotApply() {
  byId("heads-title").textContent = table.heads === null ? "Layers" : "Heads";
  byId("heads-section").hidden = !table.hasManyPanels;
  byId("ranges-switch").hidden = !table.hasManyPanels && table.what !== "weights";
  if (table.what === "weights") byId("range-all").textContent = "0 to 1";
  if (table.what === "weights") byId("range-own").title = "To the largest weight of the later half of the queries";
  byId("direction-to").textContent = description.causal ? "What it attends to" : "Row of a token";
  byId("direction-from").textContent = description.causal ? "What attends to it" : "Column of a token";
  byId("legend-blank").hidden = !description.causal;
}

function start() {
  document.documentElement.dataset.theme = state.theme;
  showTitle();
  showKeyHelp();
  buildHeads(chooseHead);
  buildText(chooseToken);
  layOutMap();
  listen();
  if (table.hasText) chooseToken(state.row);
  draw();
  map.window.focus({ preventScroll: true }); // the arrow keys move the cell from the first one on
  document.documentElement.dataset.ready = "true";
  setTimeout(readHeadsInTurn, 0, scaleFor);
}

start();
