// The large table: one canvas, as large as the window it is seen through, draws what the scroll position asks for.
// Its labels stay in place. There is no element for a cell, so that a long text costs no more than a short one.

const largestCell = 36; // CSS pixels
const labelPitch = 14; // the least distance between two labels
const labelLimit = 132; // the longest label; what is longer ends in an ellipsis
const titleHeight = 20;
const margin = 9; // right of and below the table, for marks and labels at its edge

const map = {
  window: document.getElementById("map"),
  size: document.getElementById("map-size"),
  canvas: document.getElementById("map-canvas"),
  picture: document.createElement("canvas"), // one pixel a cell
  painted: "", // what `picture` shows
  zoom: 1,
  layout: null,
};

function axisTitle(axis, isRow) {
  const titles = description.causal ? { query: "query asks", key: "key is asked" } : {};
  return `${titles[axis.name] ?? axis.name} ${isRow ? "\u2193" : "\u2192"}`;
}

// The label of a row or column: the token and its position, or just a number.
function axisLabels(axis, areTokens) {
  return axis.values.map((value) =>
    areTokens ? { text: labelOfToken(value), number: String(value) } : { text: String(value), number: "" },
  );
}

const labels = {
  rows: axisLabels(table.rows, table.rowsAreTokens),
  columns: axisLabels(table.columns, table.columnsAreTokens),
};

function labelFont() {
  return `12px ${cssColour("--mono")}`;
}

function titleFont() {
  return `12px ${cssColour("--sans")}`;
}

function numberFont() {
  return `10px ${cssColour("--sans")}`;
}

// `text` cut to fit, with an ellipsis; whole characters only.
function shorten(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let characters = Array.from(text).slice(0, 64);
  while (characters.length > 1 && context.measureText(`${characters.join("")}\u2026`).width > width)
    characters = characters.slice(0, -1);
  return `${characters.join("")}\u2026`;
}

// Shortens the labels of one axis, once, and tells how much room they take.
function measureLabels(context, list) {
  let widest = 0;
  for (const label of list) {
    context.font = labelFont();
    label.shown ??= shorten(context, label.text, labelLimit);
    const width = context.measureText(label.shown).width;
    context.font = numberFont();
    widest = Math.max(widest, width + (label.number ? context.measureText(label.number).width + 6 : 0));
  }
  return Math.ceil(widest);
}

function measureTitle(context) {
  context.font = titleFont();
  return Math.ceil(context.measureText(axisTitle(table.rows, true)).width);
}

// Sizes of a cell at zoom 1: squares where rows and columns are the same kind of thing.
function fittingCells(width, height) {
  const across = width / table.nColumns;
  const down = height / table.nRows;
  const neat = (size) => (size >= 4 ? Math.floor(Math.min(size, largestCell)) : Math.max(size, 0.25));
  if (table.hasText) return [neat(Math.min(across, down)), neat(Math.min(across, down))];
  return [neat(across), neat(Math.min(down, 24))];
}

function computeLayout() {
  const context = map.canvas.getContext("2d");
  const left = Math.max(measureLabels(context, labels.rows), measureTitle(context) + 7) + 12;
  const top = measureLabels(context, labels.columns) + 12 + titleHeight;
  const room = map.window.parentElement.clientWidth;
  const height = Math.max(380, Math.round(window.innerHeight * 0.84));
  const [cellWidth, cellHeight] = fittingCells(room - left - margin, height - top - margin).map(
    (cell) => cell * map.zoom,
  );
  return {
    left,
    top,
    room,
    height,
    cellWidth,
    cellHeight,
    width: left + table.nColumns * cellWidth + margin,
    full: top + table.nRows * cellHeight + margin,
  };
}

// Gives the window, the scrolled area and the canvas their sizes.
function layOutMap() {
  const layout = computeLayout();
  map.layout = layout;
  const scrollsAcross = layout.width > layout.room + 0.5;
  map.size.style.width = `${layout.width}px`;
  map.size.style.height = `${layout.full}px`;
  map.window.style.height = `${Math.min(layout.full + (scrollsAcross ? 16 : 0), layout.height)}px`;
  layout.viewWidth = Math.min(map.window.clientWidth, layout.width);
  layout.viewHeight = Math.min(map.window.clientHeight, layout.full);
  Object.assign(map.canvas.dataset, {
    left: layout.left,
    top: layout.top,
    cellWidth: layout.cellWidth,
    cellHeight: layout.cellHeight,
  });
}

function paintPicture(panel, scale) {
  const wanted = [panel.layer, panel.head, scale.most, scale.isLog, panel.theme].join("/");
  if (map.painted === wanted) return;
  map.painted = wanted;
  map.picture.width = table.nColumns;
  map.picture.height = table.nRows;
  const numberOf = (row, column) =>
    column < table.visible[row] ? panel.numbers[table.starts[row] + column] : undefined;
  paintCells(map.picture.getContext("2d"), table.nColumns, table.nRows, numberOf, scale);
}

// `marks` = {row, column, hover: {row, column} or null}.
function drawMap(panel, scale, marks) {
  paintPicture(panel, scale);
  const { layout } = map;
  const context = sizeCanvas(map.canvas, layout.viewWidth, layout.viewHeight);
  const view = { ...layout, x: layout.left - map.window.scrollLeft, y: layout.top - map.window.scrollTop };
  withinTable(context, view, 0, () => drawCells(context, view));
  withinTable(context, view, 3, () => drawMarks(context, view, marks));
  drawRowLabels(context, view, marks);
  drawColumnLabels(context, view, marks);
  drawTitles(context, view);
}

// Draws nothing left of or above the table, but for a margin.
function withinTable(context, view, around, drawIt) {
  const left = view.left - around;
  const top = view.top - around;
  context.save();
  context.beginPath();
  context.rect(left, top, view.viewWidth - left, view.viewHeight - top);
  context.clip();
  drawIt();
  context.restore();
}

function drawCells(context, view) {
  const width = table.nColumns * view.cellWidth;
  const height = table.nRows * view.cellHeight;
  context.fillStyle = cssColour("--card");
  context.fillRect(view.x, view.y, width, height);
  context.imageSmoothingEnabled = view.cellWidth < 1 || view.cellHeight < 1;
  context.drawImage(map.picture, view.x, view.y, width, height);
  context.fillStyle = cssColour("--card");
  if (view.cellWidth >= 9)
    for (let column = 1; column < table.nColumns; ++column)
      context.fillRect(view.x + column * view.cellWidth - 0.5, view.y, 1, height);
  if (view.cellHeight >= 9)
    for (let row = 1; row < table.nRows; ++row)
      context.fillRect(view.x, view.y + row * view.cellHeight - 0.5, width, 1);
  context.strokeStyle = cssColour("--line");
  context.lineWidth = 1;
  context.strokeRect(view.x + 0.5, view.y + 0.5, width - 1, height - 1);
}

function drawMarks(context, view, { row, column, hover }) {
  const accent = cssColour("--accent");
  if (view.cellHeight < 9) drawCrosshair(context, view, row, column, accent);
  if (hover) outlineCell(context, view, hover.row, hover.column, cssColour("--ink"), 1);
  outlineCell(context, view, row, column, accent, 2);
}

// Where cells are tiny, lines lead to the chosen one.
function drawCrosshair(context, view, row, column, colour) {
  context.globalAlpha = 0.45;
  context.fillStyle = colour;
  context.fillRect(view.x, view.y + (row + 0.5) * view.cellHeight - 0.5, table.nColumns * view.cellWidth, 1);
  context.fillRect(view.x + (column + 0.5) * view.cellWidth - 0.5, view.y, 1, table.nRows * view.cellHeight);
  context.globalAlpha = 1;
}

function outlineCell(context, view, row, column, colour, thickness) {
  const width = Math.max(view.cellWidth, 8);
  const height = Math.max(view.cellHeight, 8);
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  context.strokeRect(
    view.x + (column + 0.5) * view.cellWidth - width / 2,
    view.y + (row + 0.5) * view.cellHeight - height / 2,
    width,
    height,
  );
}

// Every how many rows or columns a label fits.
function labelStep(cell) {
  return [1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => step * cell >= labelPitch) ?? 1000;
}

// The labels to draw, [{index, kind}]: the hovered and the chosen one always, others where there is room beside them.
function labelsToDraw(count, cell, chosen, hovered) {
  const picked = [{ index: chosen, kind: "chosen" }];
  if (hovered !== undefined && hovered !== chosen) picked.push({ index: hovered, kind: "hovered" });
  const step = labelStep(cell);
  const plain = [];
  for (let index = 0; index < count; index += step)
    if (
      picked.every(
        (other) => Math.abs(other.index - index) * cell >= labelPitch || (step === 1 && other.index !== index),
      )
    )
      plain.push({ index, kind: "plain" });
  return [...plain, ...picked];
}

function styleLabel(context, kind) {
  context.font = kind === "chosen" ? `600 ${labelFont()}` : labelFont();
  context.fillStyle = cssColour(kind === "chosen" ? "--accent" : "--ink");
}

// One label that ends at the origin, its number nearest to the table.
function drawLabel(context, { shown, number }, kind, align) {
  const sign = align === "right" ? -1 : 1;
  context.textAlign = align;
  context.textBaseline = "middle";
  context.font = numberFont();
  context.fillStyle = cssColour(kind === "chosen" ? "--accent" : "--quiet");
  context.fillText(number, 0, 0);
  const offset = number ? context.measureText(number).width + 6 : 0;
  styleLabel(context, kind);
  context.fillText(shown, sign * offset, 0);
}

function drawRowLabels(context, view, { row, hover }) {
  for (const { index, kind } of labelsToDraw(table.nRows, view.cellHeight, row, hover?.row)) {
    const y = view.y + (index + 0.5) * view.cellHeight;
    if (y < view.top || y > view.viewHeight) continue;
    context.save();
    context.translate(view.left - 7, y + 0.5);
    drawLabel(context, labels.rows[index], kind, "right");
    context.restore();
  }
}

function drawColumnLabels(context, view, { column, hover }) {
  for (const { index, kind } of labelsToDraw(table.nColumns, view.cellWidth, column, hover?.column)) {
    const x = view.x + (index + 0.5) * view.cellWidth;
    if (x < view.left || x > view.viewWidth) continue;
    context.save();
    context.translate(x + 0.5, view.top - 7);
    context.rotate(-Math.PI / 2);
    drawLabel(context, labels.columns[index], kind, "left");
    context.restore();
  }
}

function drawTitles(context, view) {
  context.font = titleFont();
  context.fillStyle = cssColour("--quiet");
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillText(axisTitle(table.columns, false), view.left, 12);
  context.textAlign = "right";
  context.fillText(axisTitle(table.rows, true), view.left - 14, view.top - 14);
}

// The cell under a pointer event, or null.
function cellAt(event) {
  const box = map.canvas.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  const { layout } = map;
  if (x < layout.left || y < layout.top) return null;
  const column = Math.floor((x - layout.left + map.window.scrollLeft) / layout.cellWidth);
  const row = Math.floor((y - layout.top + map.window.scrollTop) / layout.cellHeight);
  return isVisible(row, column) ? { row, column } : null;
}

// Scrolls the table, never the page, so that a cell is in its window.
function bringCellIntoView(row, column) {
  const { layout } = map;
  const along = (start, cell, position, room) =>
    Math.min(Math.max(start, position - room + 2 * cell), Math.max(0, position - cell));
  map.window.scrollLeft = along(
    map.window.scrollLeft,
    layout.cellWidth,
    column * layout.cellWidth,
    layout.viewWidth - layout.left,
  );
  map.window.scrollTop = along(
    map.window.scrollTop,
    layout.cellHeight,
    row * layout.cellHeight,
    layout.viewHeight - layout.top,
  );
}

function setZoom(zoom, row, column) {
  const { layout } = map;
  const fits = layout.cellWidth / map.zoom;
  map.zoom = Math.min(Math.max(1, zoom), Math.max(1, 32 / fits));
  layOutMap();
  map.window.scrollLeft = (column + 0.5) * map.layout.cellWidth - (map.layout.viewWidth - map.layout.left) / 2;
  map.window.scrollTop = (row + 0.5) * map.layout.cellHeight - (map.layout.viewHeight - map.layout.top) / 2;
}
