#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "fuzz/input.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv::fuzz {

/// Text to ids and back, whole and token by token.
inline void encode_and_decode(const Tokenizer& tokenizer, std::string_view text) {
  for (const bool special : {false, true}) {
    const auto ids = tokenizer.encode(text, {.add_special = special, .parse_special = special});
    (void)accepted([&] {
      const auto whole = tokenizer.decode(ids, special);
      StreamDecoder stream(tokenizer, special);
      std::string pieces;
      for (const auto id : ids) {
        (void)tokenizer.piece(id);
        (void)tokenizer.bytes(id);
        pieces += stream.push(id);
      }
      if (pieces + stream.finish() != whole) throw std::runtime_error("decoded token by token, the text is another");
    });
  }
}

inline void use(const Tokenizer& tokenizer, std::string_view text) {
  constexpr std::size_t longest = 512;
  (void)tokenizer.summary();
  encode_and_decode(tokenizer,
                    "Hello  w\xC3\xB6rld,\n\t it's <s>12345</s> \xE2\x96\x81 \xF0\x9F\xA6\x99 \xFF\xC3 a\xCC\x81");
  encode_and_decode(tokenizer, text.substr(0, longest));
}

}  // namespace qkv::fuzz
