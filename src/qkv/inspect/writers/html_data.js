// The table of numbers that this page holds. Each picture's numbers are the text of one script element, which is read
// when the picture is first wanted.

const description = readJson("description");
const ranges = readJson("ranges");
const table = describeTable(description);
const readers = { f32: readFloat32, dec4: readDecimal4, dec5: readDecimal5 };
const cache = new Map(); // "layer/head" -> numbers, the longest unused first
const cacheBytes = 96e6;

function readJson(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

// The last two axes are a picture's rows and columns, those before them the grid of pictures.
function describeTable({ axes, causal, tokens, what, code }) {
  const [columns, rows, ...outer] = [...axes].reverse();
  const ofName = (name) => outer.find((axis) => axis.name === name);
  const layers = ofName("layer") ?? outer[1] ?? null;
  const heads = outer.find((axis) => axis !== layers) ?? null;
  const visible = rows.values.map((position) =>
    causal ? Math.min(position + 1, columns.values.length) : columns.values.length,
  );
  const starts = [0];
  for (const width of visible) starts.push(starts[starts.length - 1] + width);
  const isToken = (axis) => ["query", "key", "position"].includes(axis.name) && axis.values.length === tokens.length;
  return {
    what,
    code,
    rows,
    columns,
    layers,
    heads,
    visible,
    starts,
    nRows: rows.values.length,
    nColumns: columns.values.length,
    nLayers: layers?.values.length ?? 1,
    nHeads: heads?.values.length ?? 1,
    nCells: starts[starts.length - 1],
    rowsAreTokens: isToken(rows),
    columnsAreTokens: isToken(columns),
    hasText: isToken(rows) && isToken(columns),
    hasManyPanels: (layers?.values.length ?? 1) * (heads?.values.length ?? 1) > 1,
    hasMean: columns.name === "key" && (heads?.values.length ?? 1) > 1,
    isSigned: what !== "weights" && ranges.some(([least]) => least < 0),
  };
}

// The value of each base64 character.
const sixBits = (() => {
  const bits = new Uint8Array(128);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let value = 0; value < alphabet.length; ++value) bits[alphabet.charCodeAt(value)] = value;
  return bits;
})();

function readFloat32(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => view.getFloat32(4 * index, true));
}

// The 6 bits of each of `count` characters, most significant first, as one number.
function readCode(text, at, count) {
  let code = 0;
  for (let index = at; index < at + count; ++index) code = (code << 6) | sixBits[text.charCodeAt(index)];
  return code;
}

const tiny = 1e-30; // stands for all that is above 0 and below 1e-29

// What each code of four decimal digits stands for; made once, when first wanted.
const decimal4Values = once(() => {
  const values = new Float32Array(1 << 18);
  values.set([0, tiny, NaN, 1]);
  for (let exponent = 0, code = 4; exponent <= 28; ++exponent)
    for (let mantissa = 1000; mantissa < 10000; ++mantissa) values[code++] = mantissa / 10 ** (4 + exponent);
  return values;
});

function readDecimal4(text) {
  const values = decimal4Values();
  const numbers = new Float32Array(text.length / 3);
  for (let index = 0; index < numbers.length; ++index) numbers[index] = values[readCode(text, 3 * index, 3)];
  return numbers;
}

// Five decimal digits with a sign and an exponent.
function decimal5Value(code) {
  if (code < 4) return [0, NaN, Infinity, -Infinity][code];
  const mantissa = 10000 + ((code - 4) % 90000);
  const scale = Math.floor((code - 4) / 90000);
  return (scale % 2 === 1 ? -mantissa : mantissa) * 10 ** ((scale >> 1) - 50);
}

function readDecimal5(text) {
  const numbers = new Float32Array(text.length / 4);
  for (let index = 0; index < numbers.length; ++index) numbers[index] = decimal5Value(readCode(text, 4 * index, 4));
  return numbers;
}

function once(make) {
  let made = null;
  return () => (made ??= make());
}

function readBlock(layer, head) {
  const block = document.getElementById(`block-${layer * table.nHeads + head}`);
  return readers[table.code](block.textContent);
}

function isMean(head) {
  return head === table.nHeads;
}

function meanOfHeads(layer) {
  const sums = new Float64Array(table.nCells);
  for (let head = 0; head < table.nHeads; ++head) {
    const numbers = cache.get(`${layer}/${head}`) ?? readBlock(layer, head);
    for (let cell = 0; cell < sums.length; ++cell) sums[cell] += numbers[cell];
  }
  return sums.map((sum) => sum / table.nHeads);
}

// The numbers of one picture, row after row, masked cells left out.
function panelNumbers(layer, head) {
  const name = `${layer}/${head}`;
  const numbers = cache.get(name) ?? (isMean(head) ? meanOfHeads(layer) : readBlock(layer, head));
  cache.delete(name);
  cache.set(name, numbers);
  const mostEntries = Math.max(2, Math.floor(cacheBytes / numbers.byteLength));
  if (cache.size > mostEntries) cache.delete(cache.keys().next().value);
  return numbers;
}

function isVisible(row, column) {
  return row >= 0 && column >= 0 && row < table.nRows && column < table.visible[row];
}

function numberAt(numbers, row, column) {
  return isVisible(row, column) ? numbers[table.starts[row] + column] : undefined;
}

function largestMagnitude(panels) {
  return panels.reduce((largest, [least, most]) => Math.max(largest, Math.abs(least ?? 0), Math.abs(most ?? 0)), 0);
}

const magnitudes = new Map(); // "layer/head" -> panelMagnitude, once it is known

// The largest magnitude in one picture. A mean over heads is not in `ranges`, and is looked for. Of weights only the
// later half of the queries counts: the first query has a weight of 1 always, and the next ones large ones.
function panelMagnitude(layer, head) {
  if (!isMean(head) && table.what !== "weights") return largestMagnitude([ranges[layer * table.nHeads + head]]);
  const name = `${layer}/${head}`;
  if (!magnitudes.has(name)) {
    const first = table.what === "weights" ? table.starts[table.nRows >> 1] : 0;
    magnitudes.set(name, largestFrom(panelNumbers(layer, head), first));
  }
  return magnitudes.get(name);
}

function largestFrom(numbers, first) {
  let largest = 0;
  for (let cell = first; cell < numbers.length; ++cell) largest = Math.max(largest, Math.abs(numbers[cell]) || 0);
  return largest;
}

// Numbers as text: as many digits as the page holds, and none that it does not.

const digitsKept = { dec4: 4, dec5: 5 };

function formatNumber(number, head) {
  if (number === undefined) return "";
  if (!Number.isFinite(number)) return String(number);
  if (number > 0 && table.code === "dec4" && number < 1e-29 && !isMean(head)) return "< 1e-29";
  if (table.code !== "f32") return String(Number(number.toPrecision(digitsKept[table.code])));
  return isMean(head) ? String(Number(number.toPrecision(7))) : shortestFloat32(number);
}

// The fewest digits that name this float32 and no other.
function shortestFloat32(number) {
  for (let digits = 1; digits < 9; ++digits) {
    const short = Number(number.toPrecision(digits));
    if (Math.fround(short) === number) return String(short);
  }
  return String(Number(number.toPrecision(9)));
}

function describePrecision() {
  const texts = {
    f32: "The numbers are the exact float32 ones.",
    dec4: "The numbers are rounded to four significant digits.",
    dec5: "The numbers are rounded to five significant digits.",
  };
  return texts[table.code];
}

// Tokens as text. They are any bytes: what would not be seen, or would move what stands beside it, is spelled out.

const hiddenCharacter = /[\p{C}\p{Zl}\p{Zp}]/u;
const shortNames = new Map([
  ["\n", "\\n"],
  ["\t", "\\t"],
  ["\r", "\\r"],
]);

function spellOut(character) {
  const codepoint = character.codePointAt(0);
  const hex = codepoint.toString(16).toUpperCase();
  if (codepoint >= 0xdc80 && codepoint <= 0xdcff) return `\\x${hex.slice(2)}`; // a byte that is not UTF-8
  return shortNames.get(character) ?? (codepoint < 0x80 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`);
}

// [{text, isEscape}], in order.
function tokenParts(text) {
  const parts = /^\p{M}/u.test(text) ? [{ text: "\u25cc", isEscape: false }] : []; // a mark needs something to sit on
  for (const character of text) {
    const isEscape = hiddenCharacter.test(character);
    const shown = isEscape ? spellOut(character) : character;
    const last = parts[parts.length - 1];
    if (last?.isEscape === isEscape) last.text += shown;
    else parts.push({ text: shown, isEscape });
  }
  return parts;
}

const tokenLabels = description.tokens.map((token) =>
  tokenParts(token.text)
    .map((part) => part.text)
    .join(""),
);

// The token with its spaces made visible, for labels.
function labelOfToken(index) {
  return tokenLabels[index].replaceAll(" ", "\u2423") || "\u2205";
}
