// Colours: from a number to a place 0 .. 1 on a scale, and from there to a colour. The ramps go in even steps of
// perceived lightness (OKLCH), and begin well apart from the paper, so that a small number is not taken for a blank.

const rampSteps = 256;
const logDecades = 4; // what the logarithmic scale spans below its largest number

// Ottosson's OKLab: lightness, chroma and hue in degrees to sRGB 0 .. 255.
function oklchToRgb([lightness, chroma, hue]) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map(
    (light) => 255 * Math.min(1, Math.max(0, light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055)),
  );
}

// Colours along a curve from position 0 to 1: lightness and hue run straight, chroma along a parabola.
function makeRamp({ lightness, hue, chroma }, steps = rampSteps) {
  const mix = (from, to, share) => from + share * (to - from);
  const ramp = new Uint8ClampedArray(3 * steps);
  for (let step = 0; step < steps; ++step) {
    const share = step / (steps - 1);
    const chromaHere = mix(mix(chroma[0], chroma[1], share), mix(chroma[1], chroma[2], share), share);
    ramp.set(oklchToRgb([mix(...lightness, share), chromaHere, mix(...hue, share)]), 3 * step);
  }
  return ramp;
}

// Two ramps that meet in a grey at zero.
function makeDivergingRamp(negative, positive) {
  const below = makeRamp(negative, rampSteps / 2);
  const ramp = new Uint8ClampedArray(3 * rampSteps);
  for (let step = 0; step < rampSteps / 2; ++step)
    ramp.set(below.subarray(3 * step, 3 * step + 3), 3 * (rampSteps / 2 - 1 - step));
  ramp.set(makeRamp(positive, rampSteps / 2), (3 * rampSteps) / 2);
  return ramp;
}

// On dark paper the colours run from dark to light: the larger a number, the further from the paper.
function turnRound({ lightness, hue, chroma }) {
  return { lightness: lightness.slice().reverse(), hue: hue.slice().reverse(), chroma: chroma.slice().reverse() };
}

// The same for one side of zero, where a ramp has to begin in a grey all the same.
function turnRoundFromGrey({ hue, chroma }) {
  return { lightness: [0.3, 0.82], hue: hue.slice().reverse(), chroma: [0, chroma[1], 0.09] };
}

// The curves are those of the pictures: blue is negative, red is positive.
const { sequential, negative, positive } = description.ramps;
const ramps = {
  light: { sequential: makeRamp(sequential), diverging: makeDivergingRamp(negative, positive) },
  dark: {
    sequential: makeRamp(turnRound(sequential)),
    diverging: makeDivergingRamp(turnRoundFromGrey(negative), turnRoundFromGrey(positive)),
  },
};

// A scale is {most, isLog, isSigned, ramp, pixels}; `most` is the magnitude at its end.
function makeScale(most, isLog, theme) {
  const { isSigned } = table;
  const ramp = ramps[theme][isSigned ? "diverging" : "sequential"];
  return { most: most > 0 ? most : 1, isLog, isSigned, ramp, pixels: toPixels(ramp) };
}

// A list of colours as canvas pixels, four bytes each.
function toPixels(colours) {
  const bytes = new Uint8ClampedArray((4 * colours.length) / 3).fill(255);
  for (let step = 0; 3 * step < colours.length; ++step) bytes.set(colours.subarray(3 * step, 3 * step + 3), 4 * step);
  return new Uint32Array(bytes.buffer);
}

// Where a number lies on a scale, 0 .. 1, and NaN for what is no number.
function placeOnScale(scale, number) {
  const share = Math.min(1, Math.abs(number) / scale.most);
  const along = scale.isLog ? Math.max(0, 1 + Math.log10(share) / logDecades) : share;
  if (!scale.isSigned) return along;
  return number < 0 ? 0.5 - along / 2 : 0.5 + along / 2;
}

function colourOf(scale, number, alert) {
  const place = placeOnScale(scale, number);
  if (Number.isNaN(place)) return alert;
  const at = 3 * Math.round(place * (rampSteps - 1));
  return scale.ramp.subarray(at, at + 3);
}

function toCss([red, green, blue]) {
  return `rgb(${red}, ${green}, ${blue})`;
}

// Black or white, whichever reads better on a colour.
function inkOn([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111417" : "#f7f8f8";
}

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function parseHexColour(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// Paints numbers into a picture, one pixel a cell; cells without a number stay transparent.
function paintCells(context, width, height, numberOf, scale) {
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const [alert] = toPixels(Uint8ClampedArray.from(parseHexColour(cssColour("--alert"))));
  for (let row = 0, at = 0; row < height; ++row) {
    for (let column = 0; column < width; ++column, ++at) {
      const number = numberOf(row, column);
      if (number === undefined) continue;
      const place = placeOnScale(scale, number);
      pixels[at] = Number.isNaN(place) ? alert : scale.pixels[Math.round(place * (rampSteps - 1))];
    }
  }
  context.putImageData(image, 0, 0);
}

// Numbers to write at the scale: [{place, text}].
function scaleTicks(scale) {
  const short = (number) => String(Number(number.toPrecision(3)));
  const tick = (share, prefix = "") => ({
    place: placeOnScale(scale, share * scale.most),
    text: prefix + short(share * scale.most),
  });
  if (scale.isSigned && scale.isLog) return [-1, -0.01, 0, 0.01, 1].map((share) => tick(share));
  if (scale.isSigned) return [-1, -0.5, 0, 0.5, 1].map((share) => tick(share));
  const floor = 10 ** -logDecades;
  const isExceeded = table.what === "weights" && scale.most < 1; // see panelMagnitude
  const bound = (share) => (scale.isLog && share === floor ? "\u2264 " : isExceeded && share === 1 ? "\u2265 " : "");
  const shares = scale.isLog ? [floor, 1e-3, 1e-2, 1e-1, 1] : [0, 0.25, 0.5, 0.75, 1];
  return shares.map((share) => tick(share, bound(share)));
}

function drawLegend(canvas, scale) {
  const width = canvas.parentElement.clientWidth;
  const context = sizeCanvas(canvas, width, 34);
  for (let x = 0; x < width; ++x) {
    const at = 3 * Math.round((x / (width - 1)) * (rampSteps - 1));
    context.fillStyle = toCss(scale.ramp.subarray(at, at + 3));
    context.fillRect(x, 0, 1, 12);
  }
  context.fillStyle = cssColour("--quiet");
  context.font = `11px ${cssColour("--sans")}`;
  for (const { place, text } of scaleTicks(scale)) {
    const x = place * (width - 1);
    context.fillRect(Math.round(x), 12, 1, 4);
    context.textAlign = place < 0.03 ? "left" : place > 0.97 ? "right" : "center";
    context.fillText(text, x, 29);
  }
  canvas.setAttribute(
    "aria-label",
    `Colour scale: ${scaleTicks(scale)
      .map((tick) => tick.text)
      .join(", ")}`,
  );
}

// Makes a canvas this large in CSS pixels, sharp on any screen, empty.
function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
