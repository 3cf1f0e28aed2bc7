// The html page of `qkv attention` in a browser, without a network.
//
//   npm install && QKV_PROGRAM=path/to/qkv node --test
//
// html_pages.mjs tells of QKV_PROGRAM and QKV_HTML_DIR, html_browser.mjs of QKV_CHROMIUM and QKV_SCREENSHOTS.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  closeBrowser,
  openBrowser,
  withPage,
  screenshot,
  heads,
  hover,
  cellColour,
  nextFrames,
  press,
  readout,
  roundingOf,
  assertClose,
  assertReadout,
  assertShading,
  assertHoverWhileZoomed,
  visibleSpaces,
  secondsUntilInteractive,
} from "./html_browser.mjs";

before(openBrowser);
after(closeBrowser);

test("hovering a cell shows its two tokens, their positions and its number", async () => {
  await withPage("sentence", {}, async (page, table) => {
    const last = table.tokens.length - 1;
    for (const [row, column] of [
      [0, 0],
      [3, 1],
      [last, 0],
      [last, last],
      [last, last - 1],
    ]) {
      await hover(page, row, column);
      const { tokens } = await assertReadout(page, table, 0, 0, row, column);
      assert.deepEqual(
        tokens,
        [row, column].map((index) => visibleSpaces(table.tokens[index].text)),
      );
      assert.equal(
        await page.locator("#tip .value").textContent(),
        await page.locator("#readout .value").textContent(),
      );
    }
    await heads(page);
    await screenshot(page, "sentence-light");
  });
});

test("a cell that the query may not see is blank, not coloured as zero, and says nothing", async () => {
  await withPage("sentence", {}, async (page) => {
    const blank = await cellColour(page, 0, 3);
    const card = await page.evaluate(() => getComputedStyle(document.getElementById("text")).backgroundColor);
    assert.equal(`rgb(${blank.join(", ")})`, card);
    const zero = await page.evaluate(() =>
      Array.from(document.getElementById("legend").getContext("2d").getImageData(1, 4, 1, 1).data.slice(0, 3)),
    );
    assert.ok(
      zero.some((part, index) => Math.abs(part - blank[index]) > 12),
      `zero ${zero} beside blank ${blank}`,
    );
    await hover(page, 0, 3);
    assert.ok(await page.locator("#tip").isHidden());
  });
});

test("colours of numbers below zero are blue and above zero red, on light and dark paper", async () => {
  for (const colorScheme of ["light", "dark"])
    await withPage("residual", { colorScheme }, async (page) => {
      const [below, above] = await page.evaluate(() => {
        const canvas = document.getElementById("legend");
        const at = (x) => Array.from(canvas.getContext("2d").getImageData(x, 4, 1, 1).data.slice(0, 3));
        return [at(1), at(canvas.width - 2)];
      });
      assert.ok(below[2] > below[0] + 60, `below zero on ${colorScheme} paper: ${below}`);
      assert.ok(above[0] > above[2] + 60, `above zero on ${colorScheme} paper: ${above}`);
      await heads(page);
      await screenshot(page, `residual-${colorScheme}`);
    });
});

test("the arrow keys move the cell of a page that was only opened", async () => {
  await withPage("sentence", {}, async (page, table) => {
    const last = table.tokens.length - 1;
    await press(page, "Home");
    await press(page, "ArrowRight");
    await press(page, "ArrowUp");
    await assertReadout(page, table, 0, 0, last - 1, 1);
    assert.equal(await page.evaluate(() => window.scrollY), 0, "the page stays where it is");
  });
});

test("the keyboard moves the cell, and the cell is spoken", async () => {
  await withPage("sentence", {}, async (page, table) => {
    await page.locator("#map").focus();
    await press(page, "Home");
    await assertReadout(page, table, 0, 0, table.tokens.length - 1, 0);
    await press(page, "ArrowRight");
    await press(page, "ArrowUp");
    const { row, column } = await readout(page);
    assert.deepEqual([row, column], [table.tokens.length - 2, 1]);
    await assertReadout(page, table, 0, 0, row, column);
    const spoken = await page.locator("#live").textContent();
    assert.ok(
      spoken.includes(table.tokens[row].text) && spoken.includes(await page.locator("#readout .value").textContent()),
      spoken,
    );
    for (let step = 0; step < table.tokens.length + 2; ++step) await press(page, "ArrowRight");
    assert.equal((await readout(page)).column, row, "the last key that the query sees");
    for (let step = 0; step < table.tokens.length + 2; ++step) await press(page, "ArrowUp");
    assert.deepEqual(await readout(page).then((cell) => [cell.row, cell.column]), [0, 0]);
  });
});

test("focus is seen", async () => {
  await withPage("sentence", {}, async (page) => {
    const seen = new Set();
    for (let step = 0; step < 16; ++step) {
      await page.keyboard.press("Tab");
      const [id, outline] = await page.evaluate(() => {
        const part = document.activeElement;
        const name = part.className || part.id || part.closest("[id]")?.id;
        return [part === document.body ? "" : name, getComputedStyle(part).outlineStyle];
      });
      if (id) assert.equal(outline, "solid", `no outline on ${id}`);
      seen.add(id);
    }
    for (const id of ["theme", "scale-log", "token", "map"]) assert.ok(seen.has(id), `Tab never reached ${id}`);
  });
});

test("keys and clicks change the head", async () => {
  await withPage("sentence", {}, async (page, table) => {
    const nHeads = table.values[0].length;
    const last = table.tokens.length - 1;
    await page.locator("#map").focus();
    await press(page, "Home");
    if (nHeads > 1) {
      await press(page, "]");
      await assertReadout(page, table, 0, 1, last, 0);
      await press(page, "[");
      await press(page, "Shift+ArrowRight");
      await assertReadout(page, table, 0, 1, last, 0);
      await press(page, "PageUp");
    }
    if (table.values.length > 1) {
      await press(page, "Shift+ArrowDown");
      await assertReadout(page, table, 1, 0, last, 0);
      assert.match(
        await page.locator("#panel-title").textContent(),
        new RegExp(`^Layer ${table.layers[1]}, head ${table.heads[0]}$`),
      );
    }
    const layer = table.values.length - 1;
    const columns = nHeads + (nHeads > 1 ? 1 : 0);
    await page
      .locator("#heads canvas")
      .nth(layer * columns + nHeads - 1)
      .click();
    await nextFrames(page);
    await assertReadout(page, table, layer, nHeads - 1, last, 0);
  });
});

test("the mean over the heads of a layer is one more picture", async (context) => {
  await withPage("sentence", {}, async (page, table) => {
    const nHeads = table.values[0].length;
    if (nHeads === 1) return context.skip("one head");
    await page.locator("#heads canvas.mean").first().click();
    await page.locator("#map").focus();
    await press(page, "Home");
    const { row, column, value } = await readout(page);
    assertClose(value, table.values[0].reduce((sum, head) => sum + head[row][column], 0) / nHeads, "mean");
  });
});

test("the text is shaded both ways, by click and by keyboard", async () => {
  await withPage("sentence", {}, async (page, table) => {
    const head = table.values[0][0];
    const count = table.tokens.length;
    const asks = (chosen) => table.tokens.map((_, index) => (index <= chosen ? head[chosen][index] : null));
    const isAsked = (chosen) => table.tokens.map((_, index) => (index >= chosen ? head[index][chosen] : null));
    const shown = (await page.locator("#text .token").allTextContents()).join("");
    assert.equal(shown, table.tokens.map((token) => token.text).join(""));
    await page.locator("#text .token").nth(4).click();
    await nextFrames(page);
    await assertShading(page, 4, asks(4));
    await press(page, "ArrowRight");
    await page.locator("#text .token").nth(5).focus();
    await press(page, "ArrowRight");
    await assertShading(page, 6, asks(6));
    await page.locator("#direction-from").click();
    await nextFrames(page);
    await assertShading(page, 6, isAsked(6));
    await page.locator("#text .token").nth(1).click();
    await nextFrames(page);
    await assertShading(page, 1, isAsked(1));
    await screenshot(page, "sentence-text");
    await press(page, "a");
    await assertShading(page, 1, asks(1));
    assert.ok(count > 6);
  });
});

test("the logarithmic scale changes colours and legend, and no number", async () => {
  await withPage("sentence", {}, async (page, table) => {
    const row = table.tokens.length - 1;
    const least = table.values[0][0][row].indexOf(Math.min(...table.values[0][0][row].filter((number) => number > 0)));
    await page.locator("#map").focus();
    await press(page, "ArrowUp"); // the mark is drawn elsewhere
    const linear = [await cellColour(page, row, least), await page.locator("#legend").getAttribute("aria-label")];
    await page.locator("#scale-log").click();
    await nextFrames(page);
    const log = [await cellColour(page, row, least), await page.locator("#legend").getAttribute("aria-label")];
    if (table.values[0][0][row][least] > 2e-4) assert.notDeepEqual(linear[0], log[0]);
    assert.notEqual(linear[1], log[1]);
    assert.equal(await page.locator("#scale-log").getAttribute("aria-pressed"), "true");
    await hover(page, row, least);
    await assertReadout(page, table, 0, 0, row, least);
  });
});

test("dark follows the system, and the button overrules it", async () => {
  await withPage("sentence", { colorScheme: "dark" }, async (page) => {
    const brightness = () =>
      page.evaluate(() => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]));
    assert.ok((await brightness()) < 60);
    await heads(page);
    await screenshot(page, "sentence-dark");
    await page.locator("#theme").click();
    await nextFrames(page);
    assert.ok((await brightness()) > 200);
  });
});

test("signed numbers are shown with their sign", async () => {
  await withPage("scores", {}, async (page, table) => {
    const last = table.tokens.length - 1;
    for (let column = 0; column <= last; column += 3) {
      await hover(page, last, column);
      await assertReadout(page, table, 0, 0, last, column);
    }
    await heads(page);
    await screenshot(page, "scores-light");
  });
});

test("a tip does not stay when what it speaks of has gone", async () => {
  await withPage("sentence", {}, async (page) => {
    await hover(page, 3, 1);
    assert.ok(await page.locator("#tip").isVisible());
    await press(page, "]");
    assert.ok(await page.locator("#tip").isHidden());
    await hover(page, 3, 2);
    assert.ok(await page.locator("#tip").isVisible());
    await page.mouse.move(2, 2);
    await nextFrames(page);
    assert.ok(await page.locator("#tip").isHidden());
  });
});

test("tables of positions and dimensions are pictures too, without the text", async () => {
  await withPage("residual", {}, async (page, table) => {
    assert.ok(await page.locator("#text-section").isHidden());
    await hover(page, 2, 5);
    assert.match(await page.locator("#readout").textContent(), /dimension 5/);
    const value = Number(await page.locator("#readout .value").textContent());
    assertClose(value, (await roundingOf(page))(table.values[0][2][5]), "layer 0, position 2, dimension 5");
    await heads(page);
    await screenshot(page, "residual-light");
  });
});

test("hostile text stays text, and a script that is not the page's own does not run", async () => {
  await withPage("hostile", {}, async (page, table) => {
    await heads(page);
    assert.equal(await page.evaluate(() => globalThis.broken), undefined);
    assert.equal(await page.locator("img").count(), 0);
    const blocks = table.values.length * table.values[0].length;
    assert.equal(await page.locator("script").count(), blocks + 3);
    const shown = (await page.locator("#text .token").allTextContents()).join("");
    assert.ok(shown.includes("</script><script>"), shown);
    for (const raw of ["\u202E", "\u2028", "\0", "\u001B"]) assert.ok(!shown.includes(raw));
    // A vocabulary of bytes splits characters: each byte is then spelled out.
    const spellings = [
      ["\\u{202E}", "\\xE2\\x80\\xAE"],
      ["\\u{2028}", "\\xE2\\x80\\xA8"],
      ["\\x00"],
      ["\\xFF"],
      ["\\x1B"],
    ];
    for (const either of spellings)
      assert.ok(
        either.some((one) => shown.includes(one)),
        `${either} in ${shown}`,
      );
    await screenshot(page, "hostile-light");
    // Stopped by the page's policy, which the browser reports on the console: not in this page's complaints.
    page.removeAllListeners("console");
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "globalThis.broken = 3";
      document.body.append(script);
    });
    assert.equal(await page.evaluate(() => globalThis.broken), undefined);
  });
});

test("a long text is interactive soon, and its numbers are right", async () => {
  await withPage("long", {}, async (page, table) => {
    assert.ok((await page.evaluate(() => performance.now())) < 1000 * secondsUntilInteractive);
    assert.ok(
      (await page.evaluate(() => document.querySelectorAll("*").length)) < 20 * table.tokens.length + 2000,
      "no element a cell",
    );
    await page.locator("#map").focus();
    const last = table.tokens.length - 1;
    for (const [key, column] of [
      ["Home", 0],
      ["ArrowRight", 1],
      ["End", last],
    ]) {
      await press(page, key);
      await assertReadout(page, table, 0, 0, last, column);
    }
    await hover(page, last >> 1, last >> 2);
    const { row, column } = await readout(page);
    await assertReadout(page, table, 0, 0, row, column);
    assert.ok(Math.abs(row - (last >> 1)) <= 1 && Math.abs(column - (last >> 2)) <= 1);
    await page.locator("#map").focus();
    await press(page, "+");
    await press(page, "+");
    await assertHoverWhileZoomed(page, table);
    await heads(page);
    await screenshot(page, "long-light");
  });
});
