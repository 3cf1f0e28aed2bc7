// How the html page reads its packed numbers and spells out its tokens: its own script, run without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

const source = readFileSync(new URL("../../src/qkv/inspect/writers/html_data.js", import.meta.url), "utf8");
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The functions of the script over a page of 2 heads and 2 tokens, whose blocks hold these texts.
function load(code, blocks) {
  const axis = (name, values) => ({ name, values });
  const axes = [axis("layer", [0]), axis("head", [0, 1]), axis("query", [0, 1]), axis("key", [0, 1])];
  const tokens = [
    { id: 1, text: " a" },
    { id: 2, text: "" },
  ];
  const texts = {
    description: JSON.stringify({ model: "", what: "weights", code, causal: true, axes, tokens }),
    ranges: "[[0,1],[0,1]]",
    "block-0": blocks[0],
    "block-1": blocks[1],
  };
  const document = { getElementById: (id) => ({ textContent: texts[id] }) };
  const names = "({ readers, panelNumbers, numberAt, formatNumber, tokenParts, labelOfToken })";
  return runInNewContext(`"use strict";\n${source}\n${names}`, { document, atob });
}

function toCharacters(code, count) {
  return Array.from({ length: count }, (_, index) => alphabet[(code >> (6 * (count - 1 - index))) & 63]).join("");
}

function assertNumbers(found, expected) {
  assert.equal(found.length, expected.length);
  expected.forEach((number, index) =>
    assert.ok(Object.is(found[index], Math.fround(number)), `${number}: ${found[index]}`),
  );
}

test("exact numbers are little-endian float32 in base64", () => {
  const numbers = [1, -0.1, 3.4028234663852886e38, 1.401298464324817e-45, NaN];
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, index) => bytes.writeFloatLE(number, 4 * index));
  assertNumbers(load("f32", []).readers.f32(bytes.toString("base64")), numbers);
});

test("four decimal digits: 4 + 9000 e + (m - 1000) is m * 10^(-4 - e)", () => {
  const code = (mantissa, exponent) => 4 + 9000 * exponent + (mantissa - 1000);
  const codes = [0, 2, 3, code(1000, 0), code(9999, 0), code(1234, 1), code(9999, 28)];
  const text = codes.map((one) => toCharacters(one, 3)).join("");
  assertNumbers(load("dec4", []).readers.dec4(text), [0, NaN, 1, 0.1, 0.9999, 0.01234, 9.999e-29]);
});

test("five decimal digits: 4 + 90000 (2 e + s) + (m - 10000) is (-1)^s * m * 10^(e - 50)", () => {
  const code = (sign, mantissa, exponent) => 4 + 90000 * (2 * (exponent + 50) + sign) + (mantissa - 10000);
  const codes = [0, 1, 2, 3, code(0, 12345, -4), code(1, 99999, 0), code(1, 34028, 34), code(0, 14013, -49)];
  const text = codes.map((one) => toCharacters(one, 4)).join("");
  const expected = [0, NaN, Infinity, -Infinity, 1.2345, -99999, -3.4028e38, 1.4013e-45];
  assertNumbers(load("dec5", []).readers.dec5(text), expected);
});

test("a number is shown with the digits that the page holds", () => {
  const exact = load("f32", []);
  assert.equal(exact.formatNumber(Math.fround(0.1), 0), "0.1");
  assert.equal(exact.formatNumber(Math.fround(0.123456789), 0), "0.12345679");
  assert.equal(exact.formatNumber(NaN, 0), "NaN");
  assert.equal(exact.formatNumber(undefined, 0), "");
  const rounded = load("dec4", []);
  assert.equal(rounded.formatNumber(Math.fround(0.01234), 0), "0.01234");
  assert.equal(rounded.formatNumber(rounded.readers.dec4(toCharacters(1, 3))[0], 0), "< 1e-29");
});

test("rows are causal, and the mean is taken over the heads", () => {
  const block = (codes) => codes.map((code) => toCharacters(code, 3)).join("");
  const page = load("dec4", [block([3, 4, 3]), block([3, 3, 0])]); // 1; 0.1 1 and 1; 1 0
  const mean = page.panelNumbers(0, 2);
  assert.equal(page.numberAt(mean, 0, 1), undefined);
  assert.deepEqual([page.numberAt(mean, 0, 0), page.numberAt(mean, 1, 1)], [1, 0.5]);
  assert.equal(page.formatNumber(page.numberAt(mean, 1, 0), 2), "0.55");
});

test("what would not be seen in a token, or would turn the text round, is spelled out", () => {
  const page = load("f32", []);
  const spelled = (text) =>
    page
      .tokenParts(text)
      .map((part) => part.text)
      .join("");
  assert.equal(spelled("a\n\t\0\u001B"), "a\\n\\t\\x00\\x1B");
  assert.equal(spelled("\u202E\u2028\u200D\u00AD"), "\\u{202E}\\u{2028}\\u{200D}\\u{AD}");
  assert.equal(spelled("\uDCFF\uDCF0"), "\\xFF\\xF0"); // bytes that are not UTF-8
  assert.equal(spelled("\u0301"), "\u25CC\u0301");
  assert.equal(spelled("</script>\u{1F600}"), "</script>\u{1F600}");
  assert.deepEqual([page.labelOfToken(0), page.labelOfToken(1)], ["\u2423a", "\u2205"]);
});
