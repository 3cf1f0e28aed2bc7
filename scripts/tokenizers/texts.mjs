// Random texts that are rich in what tokenizers disagree about.

/** Numbers from 0 to 2^32 - 1, the same ones for the same seed (mulberry32). */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

// Characters that not all tables know alike: what "compare_tokenizers --codepoints" finds in all of the small tokenizers
// and the real ones. The library's normal forms, marks and punctuation are those of Unicode 8 and 9, and so lack
// what came later; its patterns, word characters and lower case are those of Unicode 16 and 17, where qkv's are those of
// PCRE2 10.42 (Unicode 14) and utf8proc 2.8 (Unicode 15). They are left out of random texts.
const notAlike = (
  "61D 7FD 890-891 897-89F 8CA-8E2 9FD-9FE A76 AFA-AFF B55 C04 C3C C77 C84 CF3 D00 D3B-D3C D81 EBA ECE 166D " +
  "1715 1734 180F 1885-1886 1ABF-1ACE 1B7D-1B7E 1C89-1C8A 1CF2-1CF3 1CF7 1DF6-1DFB 2E43-2E4F 2E52-2E5D 32FF " +
  "A7CB-A7CE A7D2 A7D4 A7DA-A7DC A7F2-A7F4 A82C A8C5 A8FF A9BD AB69 105C0-105F3 10781-10785 10787-107B0 " +
  "107B2-107BA 10D24-10D27 10D40-10D65 10D69-10D6D 10D6F-10D85 10EAB-10EAD 10EC2-10EC4 10EFC-10EFF 10F46-10F50 " +
  "10F55-10F59 10F82-10F89 11070 11073-11074 110C2 110CD 11145-11146 111C9 111CE-111CF 1123E-11241 1133B " +
  "11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA 113CC-113D3 113E1-113E2 11438-1143F " +
  "11442-11444 11446 1144B-1144F 1145A-1145B 1145D-1145E 11660-1166C 116B9 116D0-116E3 1182C-1183B 11930-11935 " +
  "11937-11938 1193B-1193E 11940 11942-11946 119D1-119D7 119DA-119E0 119E2 119E4 11A01-11A0A 11A33-11A39 " +
  "11A3B-11A47 11A51-11A5B 11A8A-11A9C 11A9E-11AA2 11B00-11B09 11BC0-11BE0 11BF0-11BF9 11C30-11C36 11C38-11C3D " +
  "11C3F 11C41-11C45 11C70-11C71 11C92-11CA7 11CAA-11CB0 11CB2-11CB3 11CB5-11CB6 11D31-11D36 11D3A 11D3C-11D3D " +
  "11D3F-11D45 11D47 11D8A-11D8E 11D90-11D91 11D93-11D97 11DE0-11DE9 11EF3-11EF8 11F00-11F10 11F12-11F3A " +
  "11F3E-11F5A 11FFF 12FF1-12FF2 1342F-13455 13460-143FA 16100-16139 16D40-16D6C 16D70-16D79 16E97-16E9A " +
  "16EA0-16EB8 16F4F 16F7F-16F87 16FE2 16FE4 16FF0-16FF1 16FF4-16FF6 18CFF 1B132 1B155 1CCF0-1CCF9 1CF00-1CF2D " +
  "1CF30-1CF46 1D2C0-1D2D3 1DF25-1DF2A 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E030-1E06D " +
  "1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4D0-1E4F9 1E5D0-1E5FA 1E944-1E94A 1E95E-1E95F 1F16C 1FBF0-1FBF9 2B739 " +
  "2EBF0-2EE5D 31350-323AF"
).split(" ").map((range) => {
  const [first, last = first] = range.split("-");
  return [parseInt(first, 16), parseInt(last, 16)];
});

/** Whether every table in use knows the character, and the same of it. */
export function isCompared(codepoint) {
  if (codepoint >= 0xd800 && codepoint <= 0xdfff) return false;
  if (notAlike.some(([first, last]) => codepoint >= first && codepoint <= last)) return false;
  return /\P{Cn}/u.test(String.fromCodePoint(codepoint));
}

const ranges = {
  latin: [[0x41, 0x5a], [0x61, 0x7a], [0xc0, 0x24f]],
  greek: [[0x370, 0x3ff]],
  cyrillic: [[0x400, 0x52f]],
  hebrew: [[0x591, 0x5f4]],
  arabic: [[0x600, 0x6ff], [0xfb50, 0xfdff], [0xfe70, 0xfeff]],
  indic: [[0x900, 0xdff]],
  thai: [[0xe00, 0xeff]],
  tibetan: [[0xf00, 0xfff], [0x1000, 0x109f]],
  georgian: [[0x10a0, 0x10ff], [0x1c90, 0x1cbf], [0x13a0, 0x13fd]],
  hangul: [[0x1100, 0x11ff], [0xac00, 0xd7a3], [0x3131, 0x318e]],
  kana: [[0x3041, 0x30ff], [0xff66, 0xff9f]],
  han: [[0x4e00, 0x9fff], [0x3400, 0x4dbf], [0x20000, 0x2a6df], [0xf900, 0xfaff]],
  marks: [[0x300, 0x36f], [0x1ab0, 0x1ace], [0x20d0, 0x20f0], [0xfe00, 0xfe0f], [0xe0100, 0xe01ef]],
  spaces: [[0x20, 0x20], [0x9, 0xd], [0x85, 0x85], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200f], [0x2028, 0x202f],
    [0x205f, 0x2064], [0x3000, 0x3000], [0x180e, 0x180e], [0xfeff, 0xfeff]],
  digits: [[0x30, 0x39], [0x660, 0x669], [0x966, 0x96f], [0xb2, 0xb3], [0xbc, 0xbe], [0x2150, 0x2189], [0x2460, 0x24ff],
    [0xff10, 0xff19], [0x1d7ce, 0x1d7ff]],
  controls: [[0x0, 0x1f], [0x7f, 0x9f]],
  punctuation: [[0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e], [0xa1, 0xbf], [0x2010, 0x205e], [0x3001, 0x303f],
    [0xff01, 0xff0f]],
  symbols: [[0x20a0, 0x20c0], [0x2100, 0x214f], [0x2190, 0x23ff], [0x2500, 0x27bf], [0x1f300, 0x1f6ff],
    [0x1f900, 0x1f9ff], [0x1d400, 0x1d7cb], [0x1f130, 0x1f189]],
  private: [[0xe000, 0xf8ff], [0xf0000, 0xffffd]],
  any: [[0x0, 0x33ff], [0xa000, 0xffff], [0x10000, 0x1ffff]],
};
const kinds = Object.keys(ranges);
const fixed = [
  "'s", "'re", "'LL", "don't", "I'M", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n ", "...", "1234567890", "3.14", "0x1F",
  "https://a.b/c?d=e", "foo_bar", "CamelCase", "▁", "▁▁", "<0x0A>", "<unk>", "Ġ", "👨‍👩‍👧", "🇩🇪", "👍🏽", "❤️", "e\u0301",
  "A\u030a", "ﬁ", "Ǆ", "İ", "ß", "ς", "½", "①", "㎏", "한국어", "각", "日本語", "中文字符", "ไทย", "हिन्दी", "العربية",
  "עברית", "\u200b", "\u00ad", "\ufffd", "\u2028", " .", " n't", " 's", "word", "Word", "the", "hello", "ab", "aab", "bba",
];

/** A text of up to `longest` parts. `own` are strings that the tokenizer itself makes something of. */
export function randomText(next, own, longest) {
  const parts = [];
  const n = 1 + (next() % longest);
  while (parts.length < n) {
    const choice = next() % 10;
    if (choice < 3 && own.length > 0) {
      parts.push(own[next() % own.length]);
    } else if (choice < 5) {
      parts.push(fixed[next() % fixed.length]);
    } else if (choice < 6) {
      parts.push(" ".repeat(1 + (next() % 3)));
    } else {
      const list = ranges[kinds[next() % kinds.length]];
      for (let left = 1 + (next() % 4); left > 0; --left) {
        const [first, last] = list[next() % list.length];
        const codepoint = first + (next() % (last - first + 1));
        if (isCompared(codepoint)) parts.push(String.fromCodePoint(codepoint));
      }
    }
    if (next() % 4 === 0) parts.push(" ");
  }
  return parts.join("");
}

/** Each assigned character by itself, inside a word and among marks. Of private ones, the first and the last of each
    plane stand for all. */
export function* codepointTexts() {
  for (let codepoint = 0; codepoint <= 0x10ffff; ++codepoint) {
    if (codepoint >= 0xd800 && codepoint <= 0xdfff) continue;
    const character = String.fromCodePoint(codepoint);
    if (/\p{Cn}/u.test(character)) continue;
    if (/\p{Co}/u.test(character) && ![0xe000, 0xf8ff].includes(codepoint) && codepoint % 0x10000 > 1) continue;
    // With marks of the highest and the lowest class, among which it has to find its place.
    const marks = `a\u0345${character}\u0334`;
    yield { codepoint, text: `a${character}b ${character} ${character}${character}1 ${marks}` };
  }
}
