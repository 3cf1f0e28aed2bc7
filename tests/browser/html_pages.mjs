// The pages that the browser tests look at, and the numbers that they should show: made by the program, or ready-made.
//
//   QKV_PROGRAM   the qkv program; it uses QKV_MODEL where that is set, else its embedded model
//   QKV_HTML_DIR  instead: a directory with NAME.html and NAME.json (as --format json writes it) for each name below

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const sentence = "The dog chased the ball but could not catch it.";

// Everything that could end the script element it is kept in, break a label, or turn the text round.
const hostileBytes = Buffer.concat([
  Buffer.from(
    "</script><script>globalThis.broken=1</script><img src=x onerror=globalThis.broken=2> \"q' <!-- & &lt;\n\t",
  ),
  Buffer.from([0x00, 0x1b, 0xff, 0xfe, 0xf0, 0x9f]),
  Buffer.from("\u2028\u202Eabc\u05E9\u05DC\u{1F600}\u0301"),
]);

const longTexts = [512, 256, 128, 64].map((count) =>
  Array.from({ length: count }, (_, index) => 1 + ((index * 7) % 40)),
);

// What each page is made from: the first list of arguments that the program accepts.
const recipes = {
  sentence: () => [["-p", sentence]],
  hostile: (directory) => {
    const file = join(directory, "hostile.txt");
    writeFileSync(file, hostileBytes);
    return [["-f", file]];
  },
  scores: () => [["-p", sentence, "--what", "scores"]],
  residual: () => [["-p", sentence, "--what", "residual"]],
  long: () => longTexts.map((ids) => ["--ids", ids.join(",")]),
};

function isRefusedInput(error) {
  return error.status === 4; // longer than the model's context
}

function runAttention(choices, output) {
  for (const [index, choice] of choices.entries()) {
    try {
      for (const format of ["html", "json"])
        execFileSync(process.env.QKV_PROGRAM, [
          "attention",
          ...choice,
          "--format",
          format,
          "-o",
          `${output}.${format}`,
        ]);
      return;
    } catch (error) {
      if (!isRefusedInput(error) || index + 1 === choices.length) throw error;
    }
  }
}

// Makes the pages, or finds them. The result gives for a name the path of the page and the table it should show.
export function preparePages() {
  const made = process.env.QKV_HTML_DIR ? null : mkdtempSync(join(tmpdir(), "qkv-html-"));
  const directory = made ?? process.env.QKV_HTML_DIR;
  if (made && !process.env.QKV_PROGRAM) throw new Error("set QKV_PROGRAM or QKV_HTML_DIR");
  const page = (name) => {
    const base = join(directory, name);
    if (made && !existsSync(`${base}.html`)) runAttention(recipes[name](directory), base);
    return { path: `${base}.html`, table: JSON.parse(readFileSync(`${base}.json`, "utf8")) };
  };
  return { page, remove: () => made && rmSync(made, { recursive: true }) };
}
