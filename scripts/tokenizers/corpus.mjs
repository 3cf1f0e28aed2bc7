// Texts for train_models: "corpus" to train with, "texts" to try, "golden" to put texts, ids and what they decode to
// together.
import { readFileSync } from "node:fs";
import { numbers, randomText } from "./texts.mjs";

const words = ("the a an and or of to in on at is was not he she it they we you said went came saw little big red blue " +
  "old new dog cat bird tree house river mountain window garden morning evening story letter number question answer " +
  "running walked singing quickly slowly aa aab abba naïve café Straße Größe привет мир слово 日本語 中文 文字 한국 123 4567")
  .split(" ");

function sentences(seed, count) {
  const next = numbers(seed);
  return Array.from({ length: count }, () =>
    Array.from({ length: 3 + (next() % 12) }, () => words[Math.min(next() % words.length, next() % words.length)])
      .join(" ") + [".", "!", "?", " ..."][next() % 4]);
}

const [what, ...files] = process.argv.slice(2);
const linesOf = (file) => readFileSync(file, "utf8").split("\n").slice(0, -1);
if (what === "corpus") {
  for (const sentence of sentences(1, 3000)) console.log(sentence);
} else if (what === "texts") {
  // The programs read line by line, and take a zero byte for the end.
  const next = numbers(2);
  const fixed = ["the cat", "  two  spaces  ", "aaaa aab", "<sep>the<sep>there<cls><s>", "ﬁnd Ä e\u0301 \u3000x\u200b\t\ty",
    "▁▁a ▁", "<0x41><unk>", "👍🏽 ok"];
  const count = Number(files[0] ?? 120);
  while (fixed.length < count) fixed.push(randomText(next, [...words, " <sep>", "the ", "<cls>"], 10).replace(/[\n\r\0]/g, " "));
  for (const text of [...fixed, ...sentences(3, 40)]) console.log(text);
} else {
  const [texts, ids, decoded] = files.map(linesOf);
  texts.forEach((text, i) =>
    console.log(JSON.stringify({ text, ids: ids[i].split(" ").filter(Boolean).map(Number), decoded: decoded[i] })));
}
