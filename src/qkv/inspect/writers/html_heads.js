// The grid of all heads, a small picture each: layers as rows, heads as columns, and the mean of a layer at its end.

const smallest = 14; // CSS pixels of a small picture
const largest = 84;
const mostThumbCells = 64; // a side; a longer one is thinned, keeping the largest magnitude of what falls together

const heads = {
  element: document.getElementById("heads"),
  nColumns: table.nHeads + (table.hasMean ? 1 : 0),
  thumbs: [], // [{layer, head, canvas, cells}], layer after layer
  names: { layers: [], columns: [] },
};

function thumbSize() {
  const gap = 3;
  const room = heads.element.parentElement.clientWidth - 34 - (table.hasMean ? 6 : 0);
  return Math.min(largest, Math.max(smallest, Math.floor(room / heads.nColumns) - gap));
}

function headName(head) {
  if (isMean(head)) return "mean";
  return table.heads === null ? "" : String(table.heads.values[head]);
}

function layerName(layer) {
  return table.layers === null ? "" : String(table.layers.values[layer]);
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// "Layer 2, head 5", as a heading and for those who listen.
function panelName(layer, head) {
  const parts = [];
  if (table.layers !== null) parts.push(`${table.layers.name} ${layerName(layer)}`);
  if (isMean(head)) parts.push(`mean of ${table.nHeads} heads`);
  else if (table.heads !== null) parts.push(`${table.heads.name} ${headName(head)}`);
  return capitalised(parts.join(", ")) || capitalised(table.what);
}

// As many rows or columns, at most mostThumbCells, and which of them a row or column of the table falls into.
function thinning(count) {
  const kept = Math.min(count, mostThumbCells);
  return { kept, of: (index) => Math.floor((index * kept) / count) };
}

function thinCells(numbers) {
  const down = thinning(table.nRows);
  const across = thinning(table.nColumns);
  const columnOf = Uint16Array.from({ length: table.nColumns }, (_, column) => across.of(column));
  const cells = new Array(down.kept * across.kept);
  for (let row = 0, cell = 0; row < table.nRows; ++row) {
    const first = down.of(row) * across.kept;
    for (let column = 0; column < table.visible[row]; ++column, ++cell) {
      const at = first + columnOf[column];
      const number = numbers[cell];
      if (cells[at] === undefined || Math.abs(number) > Math.abs(cells[at])) cells[at] = number;
    }
  }
  return { cells, width: across.kept, height: down.kept };
}

function makeName(text, kind) {
  const name = document.createElement("span");
  name.className = `name ${kind}`;
  name.setAttribute("role", kind === "column" ? "columnheader" : "rowheader");
  name.textContent = text;
  return name;
}

function makeRow() {
  const row = document.createElement("div");
  row.className = "row";
  row.setAttribute("role", "row");
  return row;
}

function makeThumb(layer, head, choose) {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "gridcell");
  canvas.setAttribute("aria-label", panelName(layer, head));
  canvas.title = panelName(layer, head);
  canvas.tabIndex = -1;
  if (isMean(head)) canvas.className = "mean";
  canvas.addEventListener("click", () => choose(layer, head));
  canvas.addEventListener("focus", () => canvas.matches(":focus-visible") && choose(layer, head));
  return { layer, head, canvas, thin: null };
}

function headerRow() {
  const row = makeRow();
  row.append(makeName("", "layer"));
  for (let head = 0; head < heads.nColumns; ++head) {
    const name = makeName(headName(head), "column");
    heads.names.columns.push(name);
    row.append(name);
  }
  return row;
}

function buildHeads(choose) {
  heads.element.setAttribute("role", "grid");
  heads.element.setAttribute("aria-label", "Heads: layers down, heads across");
  heads.element.append(headerRow());
  for (let layer = 0; layer < table.nLayers; ++layer) {
    const row = makeRow();
    const name = makeName(table.layers === null ? "" : `L${layerName(layer)}`, "layer");
    heads.names.layers.push(name);
    row.append(name);
    for (let head = 0; head < heads.nColumns; ++head) {
      const thumb = makeThumb(layer, head, choose);
      heads.thumbs.push(thumb);
      row.append(thumb.canvas);
    }
    heads.element.append(row);
  }
  sizeHeads();
}

function sizeHeads() {
  const size = thumbSize();
  const isSquare = table.hasText;
  heads.element.style.gridTemplateColumns = `auto repeat(${heads.nColumns}, auto)`;
  for (const { canvas } of heads.thumbs) {
    canvas.style.width = `${isSquare || heads.nColumns > 2 ? size : 2 * size}px`;
    canvas.style.height = `${size}px`;
  }
}

function paintThumb(thumb, scaleFor) {
  if (thumb.thin === null) return;
  const { cells, width, height } = thumb.thin;
  thumb.canvas.width = width;
  thumb.canvas.height = height;
  paintCells(
    thumb.canvas.getContext("2d"),
    width,
    height,
    (row, column) => cells[row * width + column],
    scaleFor(thumb.layer, thumb.head),
  );
}

// Reads the heads one by one, leaving the page time to answer in between; a layer's mean comes with its heads.
function readHeadsInTurn(scaleFor, index = 0) {
  const until = performance.now() + 30;
  while (index < heads.thumbs.length && performance.now() < until) {
    const thumb = heads.thumbs[index++];
    thumb.thin = thinCells(panelNumbers(thumb.layer, thumb.head));
    panelMagnitude(thumb.layer, thumb.head); // while its numbers are at hand
    paintThumb(thumb, scaleFor);
  }
  heads.element.dataset.drawn = index;
  if (index < heads.thumbs.length) setTimeout(readHeadsInTurn, 0, scaleFor, index);
}

function repaintHeads(scaleFor) {
  for (const thumb of heads.thumbs) paintThumb(thumb, scaleFor);
}

function markChosenHead(layer, head) {
  for (const thumb of heads.thumbs) {
    const isChosen = thumb.layer === layer && thumb.head === head;
    thumb.canvas.setAttribute("aria-selected", String(isChosen));
    thumb.canvas.tabIndex = isChosen ? 0 : -1;
  }
  heads.names.layers.forEach((name, index) => name.classList.toggle("chosen", index === layer));
  heads.names.columns.forEach((name, index) => name.classList.toggle("chosen", index === head));
}

function focusHead(layer, head) {
  heads.thumbs[layer * heads.nColumns + head].canvas.focus();
}
