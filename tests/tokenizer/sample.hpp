#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/tokenizer/tokenizer.hpp"
#include "support/numbers.hpp"

namespace qkv::test {

using Ids = std::vector<TokenId>;
using Texts = std::vector<std::string>;

/// The 256 symbols of byte-level vocabularies, worked out here once more: bytes that print in Latin-1 are themselves,
/// the others take the characters from U+0100 on.
inline Texts byte_symbols() {
  Texts symbols;
  unsigned next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool prints = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    const unsigned codepoint = prints ? byte : next++;
    std::string symbol;
    if (codepoint < 128)
      symbol = std::string(1, static_cast<char>(codepoint));
    else
      symbol = {static_cast<char>(0xC0U | (codepoint >> 6U)), static_cast<char>(0x80U | (codepoint & 63U))};
    symbols.push_back(symbol);
  }
  return symbols;
}

inline nlohmann::json added_token(const std::string& content, TokenId id, bool special = true) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

/// A file whose bytes are ids 0 to 255, with merges of ids from 256 on, and "<|end|>" after them.
inline nlohmann::json byte_level_file(const Texts& merges = {"h e", "l l", "he ll", "hell o", "Ġ w", "o r", "Ġw or"}) {
  nlohmann::json vocab;
  TokenId id = 0;
  for (const auto& symbol : byte_symbols()) vocab[symbol] = id++;
  for (const auto& merge : merges) {
    const auto space = merge.find(' ');
    vocab[merge.substr(0, space) + merge.substr(space + 1)] = id++;
  }
  return {{"version", "1.0"},
          {"added_tokens", {added_token("<|end|>", id)}},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

/// A file as Llama models have it: "<unk>" 0, "<s>" 1, "</s>" 2, the bytes 3 to 258, then "▁" 259, "a" to "f" 260 to
/// 265, and what the merges make from 266 on.
inline nlohmann::json llama_file(const Texts& merges = {"▁ a", "a b", "▁a b", "c d", "▁ ▁"}) {
  nlohmann::json vocab{{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  TokenId id = 3;
  for (unsigned byte = 0; byte < 256; ++byte) vocab[fmt::format("<0x{:02X}>", byte)] = id++;
  for (const auto* piece : {"▁", "a", "b", "c", "d", "e", "f"}) vocab[piece] = id++;
  for (const auto& merge : merges) {
    const auto space = merge.find(' ');
    vocab[merge.substr(0, space) + merge.substr(space + 1)] = id++;
  }
  const nlohmann::json space_pattern{{"String", " "}};
  const nlohmann::json mark_pattern{{"String", "▁"}};
  return {{"version", "1.0"},
          {"added_tokens", {added_token("<unk>", 0), added_token("<s>", 1), added_token("</s>", 2)}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", "▁"}},
              {{"type", "Replace"}, {"pattern", space_pattern}, {"content", "▁"}}}}}},
          {"pre_tokenizer", nullptr},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", nlohmann::json::array({{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                                              {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}})},
            {"pair", nlohmann::json::array()},
            {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}}},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", mark_pattern}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", vocab},
            {"merges", merges}}}};
}

inline Tokenizer tokenizer_of(const nlohmann::json& file) { return Tokenizer::from_json(file.dump(), "sample.json"); }

inline JsonReader reader_of(const nlohmann::json& object) { return {"sample.json: part", object}; }

/// Up to `longest` bytes of any value, rich in spaces and letters.
inline std::string random_bytes(Numbers& numbers, std::size_t longest) {
  std::string bytes(numbers.bits() % (longest + 1), '\0');
  for (auto& byte : bytes) {
    const auto bits = numbers.bits() >> 8U;
    constexpr std::string_view frequent = "  helloworldabcd\n\xC3\xA9\xE2\x96\x81";
    byte = bits % 3 == 0 ? static_cast<char>(bits >> 4U) : frequent[(bits >> 4U) % frequent.size()];
  }
  return bytes;
}

}  // namespace qkv::test
