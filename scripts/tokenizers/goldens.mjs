// Writes tests/data/tokenizers: small tokenizer files, and what the library that defines the format makes of texts.
//   node goldens.mjs FOLDER RULES.model
// RULES.model is a SentencePiece model whose rules stand in the file for "Precompiled". See goldens.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "tokenizers";
import { fixtures } from "./fixtures.mjs";
import { numbers, randomText } from "./texts.mjs";

const [folder, rules] = process.argv.slice(2);
const fixed = ["", " ", "hello world", "  Hello,  the word ab aab.\n\n12 1234!", "don't — ¿qué? Straße ÅNGSTRÖM İi ǅ",
  "日本語 中文字符 한국어 각", "e\u0301 A\u030a ﬁ ½ ㎏ \ufeff\u200b\u2581", "<s>a<mask> <left> b <right> c <word>d <word> <both>",
  "👨‍👩‍👧 🇩🇪\r\n\t\u0000\u0007", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "[UNK] [CLS]x[SEP] <tag> <tag>s <TAG>"];

for (const [name, file] of Object.entries(fixtures(rules))) {
  const text = JSON.stringify(file);
  const tokenizer = Tokenizer.fromString(text);
  const next = numbers(name.length * 7 + 1);
  const texts = [...fixed];
  while (texts.length < 40) texts.push(randomText(next, ["hello", " the word", " and", "12", "ing"], 8));
  const lines = [];
  for (const one of texts) {
    const encoding = await tokenizer.encode(one, null, { addSpecialTokens: true });
    const ids = [...encoding.getIds()];
    lines.push(JSON.stringify({ text: one, ids, decoded: await tokenizer.decode(ids, true) }) + "\n");
  }
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, "tokenizer.json"), text + "\n");
  writeFileSync(join(folder, name, "golden.jsonl"), lines.join(""));
}
