// The small tokenizer files in tests/data/tokenizers, by name. See goldens.mjs.
import { readFileSync } from "node:fs";

const added = (id, content, options = {}) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
  ...options,
});

/** The characters that spell the 256 bytes, in the order of the bytes. */
export function byteSymbols() {
  let next = 256;
  return [...Array(256).keys()].map((byte) => {
    const prints = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCodePoint(prints ? byte : next++);
  });
}

const numbered = (pieces, first = 0) => Object.fromEntries(pieces.map((piece, i) => [piece, first + i]));
const bytePieces = [...Array(256).keys()].map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);

const file = (parts) => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  ...parts,
});

const split = (pattern, behavior, invert = false) => ({ type: "Split", pattern, behavior, invert });
const sequence = (key, ...parts) => ({ type: "Sequence", [key]: parts });
const byteLevel = (options = {}) => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: false,
  ...options,
});

/** One token a byte and some words: what a tokenizer does to a text before its model shows byte by byte. */
function byteBpe(parts, merges = ["h e", "l l", "he ll", "hell o", "Ġ w", "o r", "Ġw or", "Ġ t", "Ġt he"], model = {}) {
  const vocab = numbered([...byteSymbols(), ...merges.map((merge) => merge.replace(" ", ""))]);
  return file({
    decoder: byteLevel(),
    ...parts,
    pre_tokenizer: !parts.pre_tokenizer
      ? byteLevel()
      : parts.pre_tokenizer.type === "ByteLevel"
        ? parts.pre_tokenizer
        : sequence("pretokenizers", parts.pre_tokenizer, byteLevel()),
    model: { type: "BPE", dropout: null, unk_token: null, fuse_unk: false, byte_fallback: false, vocab, merges, ...model },
  });
}

const letters = [..."abcdefghijklmnopqrstuvwxyz0123456789.,!?'-éüßабвгд中文字"];
const words = ["the", "he", "ing", "and", "ab", "ba", "aab", "hello", "word", "wor", "ld", "ell", "日本", "12", "''"];

function unigram(parts, pieces, model = {}) {
  return file({ ...parts, model: { type: "Unigram", unk_id: 0, byte_fallback: false, vocab: pieces, ...model } });
}
const scored = (pieces, first = -2) => pieces.map((piece, i) => [piece, first - i * 0.137]);
const metaspace = (scheme, splits = true) => ({
  type: "Metaspace",
  replacement: "▁",
  prepend_scheme: scheme,
  split: splits,
});
const bosTemplate = {
  type: "TemplateProcessing",
  single: [{ SpecialToken: { id: "<s>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } },
    { SpecialToken: { id: "</s>", type_id: 0 } }],
  pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
  special_tokens: {
    "<s>": { id: "<s>", ids: [1], tokens: ["<s>"] },
    "</s>": { id: "</s>", ids: [2], tokens: ["</s>"] },
  },
};
const specials = [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")];
const spaced = words.map((word) => `▁${word}`);
const unigramPieces = [["<unk>", 0], ["<s>", 0], ["</s>", 0], ...scored(["▁", ...spaced, ...words, ...letters])];

/** With folder/rules.model, a SentencePiece model whose rules are small. */
export function fixtures(rulesModel) {
  const made = {
    "unigram-metaspace": unigram(
      {
        added_tokens: [...specials, added(unigramPieces.length, "<mask>", { lstrip: true })],
        normalizer: sequence(
          "normalizers",
          { type: "Nmt" },
          { type: "NFKC" },
          { type: "Replace", pattern: { Regex: " {2,}" }, content: " " },
        ),
        pre_tokenizer: metaspace("always"),
        post_processor: bosTemplate,
        decoder: metaspace("always"),
      },
      unigramPieces,
    ),
    "unigram-bytes": unigram(
      {
        added_tokens: specials,
        normalizer: sequence(
          "normalizers",
          { type: "Prepend", prepend: "▁" },
          { type: "Replace", pattern: { String: " " }, content: "▁" },
        ),
        decoder: sequence(
          "decoders",
          { type: "Replace", pattern: { String: "▁" }, content: " " },
          { type: "ByteFallback" },
          { type: "Fuse" },
          { type: "Strip", content: " ", start: 1, stop: 0 },
        ),
      },
      [["<unk>", 0], ["<s>", 0], ["</s>", 0], ...bytePieces.map((piece) => [piece, 0]),
        ...scored(["▁", "▁▁", ...spaced, ...words, ...letters])],
      { byte_fallback: true },
    ),
    "word-level": file({
      added_tokens: [added(0, "[UNK]"), added(1, "<tag>", { special: false, normalized: true, single_word: true })],
      normalizer: sequence("normalizers", { type: "NFD" }, { type: "Lowercase" }, { type: "StripAccents" },
        { type: "Strip", strip_left: true, strip_right: true }),
      pre_tokenizer: { type: "Whitespace" },
      model: { type: "WordLevel", unk_token: "[UNK]", vocab: numbered(["[UNK]", "<tag>", ...words, ...letters]) },
    }),
    "word-piece": file({
      added_tokens: [added(0, "[UNK]"), added(1, "[CLS]"), added(2, "[SEP]")],
      normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null,
        lowercase: true },
      pre_tokenizer: { type: "BertPreTokenizer" },
      post_processor: { type: "BertProcessing", sep: ["[SEP]", 2], cls: ["[CLS]", 1] },
      decoder: { type: "WordPiece", prefix: "##", cleanup: true },
      model: {
        type: "WordPiece",
        unk_token: "[UNK]",
        continuing_subword_prefix: "##",
        max_input_chars_per_word: 20,
        vocab: numbered(["[UNK]", "[CLS]", "[SEP]", ...words, ...letters,
          ...[...words, ...letters].map((piece) => `##${piece}`)]),
      },
    }),
    "bpe-affixes": file({
      added_tokens: [added(0, "<unk>")],
      pre_tokenizer: { type: "WhitespaceSplit" },
      decoder: { type: "BPEDecoder", suffix: "</w>" },
      model: {
        type: "BPE",
        dropout: null,
        unk_token: "<unk>",
        continuing_subword_prefix: "@@",
        end_of_word_suffix: "</w>",
        fuse_unk: true,
        byte_fallback: false,
        vocab: numbered(["<unk>", ...letters.flatMap((l) => [l, `@@${l}`, `${l}</w>`, `@@${l}</w>`]), "ab", "ab</w>",
          "he", "@@he", "hel", "hello</w>", "@@lo</w>"]),
        merges: ["a @@b", "a @@b</w>", "h @@e", "he @@l", "@@l @@o</w>", "hel @@lo</w>", "@@h @@e"],
      },
    }),
    "bpe-metaspace": file({
      added_tokens: [...specials, added(267, "<left>", { lstrip: true, special: false }),
        added(268, "<right>", { rstrip: true, special: false, normalized: true }),
        added(269, "<word>", { single_word: true, special: false }),
        added(270, "<both>", { lstrip: true, rstrip: true, single_word: true })],
      pre_tokenizer: metaspace("first", false),
      post_processor: sequence("processors", byteLevel(), bosTemplate),
      decoder: sequence("decoders", { type: "ByteFallback" }, metaspace("first", false)),
      model: {
        type: "BPE",
        unk_token: "<unk>",
        fuse_unk: true,
        byte_fallback: true,
        vocab: numbered(["<unk>", "<s>", "</s>", ...bytePieces, "▁", "a", "b", "▁a", "ab", "▁ab", "▁▁", "▁▁▁▁"]),
        merges: ["▁ a", "a b", "▁a b", "▁ ▁", "▁▁ ▁▁"],
      },
    }),
    "byte-level-prefix": byteBpe({
      pre_tokenizer: byteLevel({ add_prefix_space: true, use_regex: true }),
      post_processor: { type: "RobertaProcessing", sep: ["hell", 258], cls: ["he", 256], trim_offsets: true,
        add_prefix_space: true },
    }),
    "ignore-merges": byteBpe(
      { pre_tokenizer: split({ Regex: "\\s+(?!\\S)|\\s+|[^\\s]+" }, "Isolated") },
      ["h e", "l l", "o w"],
      { ignore_merges: true, vocab: numbered([...byteSymbols(), "he", "ll", "ow", "hello", "Ġ", "word"].filter(
        (piece, i, all) => all.indexOf(piece) === i)) },
    ),
  };
  // Each normalizer and pre-tokenizer by itself.
  const normalizers = {
    nfc: { type: "NFC" },
    nfd: { type: "NFD" },
    nfkc: { type: "NFKC" },
    nfkd: { type: "NFKD" },
    lowercase: { type: "Lowercase" },
    "strip-accents": sequence("normalizers", { type: "NFD" }, { type: "StripAccents" }),
    strip: { type: "Strip", strip_left: true, strip_right: false },
    nmt: { type: "Nmt" },
    bert: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: true, lowercase: false },
    prepend: sequence("normalizers", { type: "Prepend", prepend: "> " },
      { type: "Replace", pattern: { Regex: "[aeiou]+" }, content: "_" },
      { type: "Replace", pattern: { String: "b" }, content: "" }),
  };
  if (rulesModel) normalizers.precompiled = { type: "Precompiled", precompiled_charsmap: charsmap(rulesModel) };
  for (const [name, normalizer] of Object.entries(normalizers)) made[`normalizer-${name}`] = byteBpe({ normalizer });
  const preTokenizers = {
    digits: sequence("pretokenizers", { type: "Digits", individual_digits: false },
      { type: "Digits", individual_digits: true }),
    whitespace: { type: "Whitespace" },
    "whitespace-split": { type: "WhitespaceSplit" },
    punctuation: { type: "Punctuation", behavior: "Isolated" },
    "punctuation-merged": { type: "Punctuation", behavior: "MergedWithPrevious" },
    "split-removed": split({ String: "l" }, "Removed"),
    "split-previous": split({ Regex: "\\d+|l" }, "MergedWithPrevious"),
    "split-next": split({ Regex: "\\d+|l" }, "MergedWithNext"),
    "split-contiguous": split({ Regex: "[a-e]" }, "Contiguous"),
    "split-inverted": split({ Regex: "\\p{L}+|\\p{N}{1,3}" }, "Removed", true),
    "character": { type: "CharDelimiterSplit", delimiter: "e" },
    "fixed-length": { type: "FixedLength", length: 5 },
    metaspace: metaspace("never"),
  };
  // Where each piece is one token, every cut shows.
  for (const name of ["digits", "whitespace", "punctuation", "split-inverted"])
    made[`words-${name}`] = file({
      pre_tokenizer: preTokenizers[name],
      model: { type: "WordLevel", unk_token: "?", vocab: numbered(["?", ...letters, ...words]) },
    });
  const joins = ["h e", "l l", "he ll", "hell o", "Ġ w", "o r", "Ġw or", "1 2", "12 3", "3 4", "! !", "a b", "Ġ Ġ"];
  for (const [name, preTokenizer] of Object.entries(preTokenizers))
    made[`pre-tokenizer-${name}`] = byteBpe({ pre_tokenizer: preTokenizer }, joins);
  return made;
}

/** The compiled rules in a SentencePiece model, in Base64: field 2 of field 3 of the message. */
export function charsmap(path) {
  const fields = (bytes) => {
    const found = {};
    let at = 0;
    const varint = () => {
      let value = 0;
      for (let shift = 1; ; shift *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * shift;
        if (byte < 128) return value;
      }
    };
    while (at < bytes.length) {
      const tag = varint();
      const length = { 0: 0, 1: 8, 5: 4 }[tag & 7];
      if ((tag & 7) === 0) varint();
      const size = length ?? varint();
      found[tag >>> 3] = bytes.subarray(at, at + size);
      at += size;
    }
    return found;
  };
  return Buffer.from(fields(fields(readFileSync(path))[3])[2]).toString("base64");
}
