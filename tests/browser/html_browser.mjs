// Opens the html pages in a browser without a network, points and presses keys, and reads what they show.
//
// QKV_CHROMIUM names the browser (default: where systems install it), QKV_SCREENSHOTS a directory for pictures.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

import { preparePages } from "./html_pages.mjs";

const browserNames = [
  process.env.QKV_CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const browserFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
export const secondsUntilInteractive = 10;

let browser;
let pages;

export async function openBrowser() {
  pages = preparePages();
  const executablePath = browserNames.find((name) => name && existsSync(name));
  browser = await chromium.launch({ executablePath, args: browserFlags });
}

export async function closeBrowser() {
  await browser?.close();
  pages?.remove();
}

// Opens a page, offline. Whatever goes wrong in it is collected, and makes the test fail at the end.
export async function withPage(name, options, body) {
  const { path, table } = pages.page(name);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && complaints.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  const url = pathToFileURL(path).href;
  page.on("request", (request) => request.url() !== url && complaints.push(`request: ${request.url()}`));
  try {
    await page.goto(url);
    await page.waitForSelector("html[data-ready]", { timeout: 1000 * secondsUntilInteractive });
    await body(page, table);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

export async function screenshot(page, name) {
  if (!process.env.QKV_SCREENSHOTS) return;
  mkdirSync(process.env.QKV_SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.QKV_SCREENSHOTS, `${name}.png`), fullPage: true });
}

export async function heads(page) {
  const count = await page.locator("#heads canvas").count();
  await page.waitForSelector(`#heads[data-drawn="${count}"]`, { timeout: 60000 });
}

// The middle of a cell of the large table, in pixels of the window, which is scrolled to show it.
function cellCentre(page, row, column) {
  return page.evaluate(
    ([r, c]) => {
      const canvas = document.getElementById("map-canvas");
      const { left, top, cellWidth, cellHeight } = canvas.dataset;
      const across = Number(left) + (c + 0.5) * cellWidth;
      const down = Number(top) + (r + 0.5) * cellHeight;
      scrollBy(0, canvas.getBoundingClientRect().top + down - innerHeight / 2);
      const box = canvas.getBoundingClientRect();
      return { x: box.left + across, y: box.top + down };
    },
    [row, column],
  );
}

export async function hover(page, row, column) {
  const { x, y } = await cellCentre(page, row, column);
  await page.mouse.move(x, y);
  await nextFrames(page);
}

// The colour of the middle of a cell as drawn.
export function cellColour(page, row, column) {
  return page.evaluate(
    ([r, c]) => {
      const canvas = document.getElementById("map-canvas");
      const { left, top, cellWidth, cellHeight } = canvas.dataset;
      const at = (start, cell, index) => Math.floor((Number(start) + (index + 0.5) * cell) * devicePixelRatio);
      const [red, green, blue] = canvas
        .getContext("2d")
        .getImageData(at(left, cellWidth, c), at(top, cellHeight, r), 1, 1).data;
      return [red, green, blue];
    },
    [row, column],
  );
}

export function nextFrames(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function press(page, key) {
  await page.keyboard.press(key);
  await nextFrames(page);
}

export async function readout(page) {
  const positions = await page.locator("#readout .at").allTextContents();
  const tokens = await page.locator("#readout bdi").allTextContents();
  const value = await page.locator("#readout .value").textContent();
  return { row: Number(positions[0]), column: Number(positions[1]), tokens, value: Number(value) };
}

// What a number is rounded to before it is shown: exact ones are compared as the float32 that they are.
export async function roundingOf(page) {
  const { code } = await page.evaluate(() => JSON.parse(document.getElementById("description").textContent));
  const digits = { dec4: 4, dec5: 5 }[code];
  return (number) => (digits ? Number(Math.fround(number).toPrecision(digits)) : Math.fround(number));
}

export function assertClose(shown, expected, what) {
  assert.ok(Math.abs(shown - expected) <= 1e-6 * Math.abs(expected), `${what}: expected ${expected}, found ${shown}`);
}

export async function assertReadout(page, table, layer, head, row, column) {
  const shown = await readout(page);
  assert.deepEqual([shown.row, shown.column], [row, column]);
  const expected = (await roundingOf(page))(table.values[layer][head][row][column]);
  assertClose(shown.value, expected, `layer ${layer}, head ${head}, row ${row}, column ${column}`);
  return shown;
}

export const visibleSpaces = (text) => text.replaceAll(" ", "\u2423");

// What the shading of the text says: a number for each token, or null where there is none.
function shading(page) {
  return page.locator("#text .token").evaluateAll((spans) =>
    spans.map((span) => {
      const [, number] = span.getAttribute("aria-label").match(/, (\S+)$/) ?? [];
      return span.classList.contains("unseen-by")
        ? null
        : { number: Number(number), colour: span.style.backgroundColor };
    }),
  );
}

export async function assertShading(page, chosen, expected) {
  const shades = await shading(page);
  expected.forEach((number, index) => {
    if (number === null) return assert.equal(shades[index], null, `token ${index} is not shaded`);
    assertClose(shades[index].number, number, `shade of token ${index}`);
  });
  const visible = shades.filter((shade) => shade !== null);
  const spread = Math.max(...visible.map((shade) => shade.number)) - Math.min(...visible.map((shade) => shade.number));
  if (spread > 0.05) assert.ok(new Set(visible.map((shade) => shade.colour)).size > 1, "shades differ");
  assert.equal(await page.locator('#text .token[aria-selected="true"]').getAttribute("data-position"), String(chosen));
}

// Points into the middle of the scrolled table, and expects the number of whatever cell is there.
export async function assertHoverWhileZoomed(page, table) {
  const box = await page.locator("#map").boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + box.height * 0.6);
  await nextFrames(page);
  const { row, column } = await readout(page);
  assert.ok(row > 0 && column < row, "a cell is below the pointer");
  await assertReadout(page, table, 0, 0, row, column);
}
