// Compares the ids that qkv gives with those of the libraries that define the formats. See ../compare_tokenizers.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { Tokenizer } from "tokenizers";
import { codepointTexts, isCompared, numbers, randomText } from "./texts.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    qkv: { type: "string" },
    strings: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    show: { type: "string", default: "5" },
    codepoints: { type: "boolean", default: false },
  },
});

const modelOf = (directory) => join(directory, "tokenizer.model");
const isModel = (directory) => !existsSync(join(directory, "tokenizer.json"));

/** What a program writes, line by line. */
function run(program, options, input) {
  const done = spawnSync(program, options, { input, encoding: "utf8", maxBuffer: 1 << 30 });
  if (done.status !== 0) throw new Error(done.stderr?.trim() || String(done.error));
  return done.stdout.split("\n").slice(0, -1);
}

/** Pieces and added tokens, as texts that may hold them. */
function ownTexts(directory) {
  if (isModel(directory)) {
    const lines = run("spm_export_vocab", [`--model=${modelOf(directory)}`]);
    return lines.map((line) => line.split("\t")[0].replaceAll("▁", " "));
  }
  const file = JSON.parse(readFileSync(join(directory, "tokenizer.json"), "utf8"));
  const added = (file.added_tokens ?? []).map((token) => token.content);
  const vocabulary = Array.isArray(file.model.vocab)
    ? file.model.vocab.map(([piece]) => piece)
    : Object.keys(file.model.vocab);
  const spaced = vocabulary.map((piece) => piece.replace(/[▁Ġ]/gu, " "));
  const isFine = (text) => [...text].every((character) => isCompared(character.codePointAt(0)));
  // Added tokens are few, and would hardly ever come up.
  const copies = added.length === 0 ? 0 : Math.ceil(vocabulary.length / 4 / added.length);
  return [...spaced, ...Array(copies).fill(added).flat()].filter(isFine);
}

function qkvIds(directory, texts) {
  const options = ["tokenize", "-m", directory, "--lines", ...(isModel(directory) ? [] : ["--special"])];
  return run(values.qkv, options, texts.map((text) => JSON.stringify(text) + "\n").join("")).map((line) => JSON.parse(line).ids);
}

async function libraryIds(directory, texts) {
  if (isModel(directory)) {
    const options = [`--model=${modelOf(directory)}`, "--output_format=id"];
    const lines = run("spm_encode", options, texts.map((text) => text + "\n").join(""));
    return lines.map((line) => line.split(" ").filter(Boolean).map(Number));
  }
  const tokenizer = Tokenizer.fromFile(join(directory, "tokenizer.json"));
  const ids = [];
  for (let at = 0; at < texts.length; at += 1000)
    for (const encoding of await tokenizer.encodeBatch(texts.slice(at, at + 1000), { addSpecialTokens: true }))
      ids.push([...encoding.getIds()]);
  return ids;
}

function ranges(codepoints) {
  const found = [];
  for (const codepoint of codepoints) {
    const last = found.at(-1);
    if (last !== undefined && last[1] + 1 === codepoint) last[1] = codepoint;
    else found.push([codepoint, codepoint]);
  }
  const hex = (number) => number.toString(16).toUpperCase().padStart(4, "0");
  return found.map(([first, last]) => (first === last ? hex(first) : `${hex(first)}..${hex(last)}`)).join(" ");
}

let differences = 0;
for (const directory of positionals) {
  const name = basename(directory);
  const cases = values.codepoints ? [...codepointTexts()] : [];
  if (!values.codepoints) {
    const next = numbers(Number(values.seed));
    const own = ownTexts(directory);
    for (let i = 0; i < Number(values.strings); ++i) cases.push({ text: randomText(next, own, i % 50 === 0 ? 80 : 8) });
  }
  // SentencePiece's program reads line by line, and takes a zero byte for the end.
  if (isModel(directory)) for (const one of cases) one.text = one.text.replace(/[\n\r\0]/g, " ");
  const texts = cases.map((one) => one.text);
  const ours = qkvIds(directory, texts);
  const theirs = await libraryIds(directory, texts);
  const different = cases.filter((_, i) => JSON.stringify(ours[i]) !== JSON.stringify(theirs[i]));
  if (values.codepoints) {
    const all = different.map((one) => one.codepoint);
    const known = all.filter(isCompared);
    console.log(`${name}: ${cases.length} characters, ${known.length} different: ${ranges(known)}`);
    const unknown = all.filter((codepoint) => !isCompared(codepoint));
    console.log(`  and ${unknown.length} that not all tables know: ${ranges(unknown)}`);
    differences += known.length;
  } else {
    console.log(`${name}: ${cases.length} texts, ${different.length} different`);
    differences += different.length;
    for (const one of different.slice(0, Number(values.show))) {
      const i = cases.indexOf(one);
      console.log(`  ${JSON.stringify(one.text)}\n    qkv     ${ours[i]}\n    library ${theirs[i]}`);
    }
  }
}
console.log(`${differences} differences`);
process.exit(differences === 0 ? 0 : 1);
