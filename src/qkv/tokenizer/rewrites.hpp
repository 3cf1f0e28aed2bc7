#pragma once

#include <cstdint>
#include <string>

namespace qkv::tokenizing {

// What normalizers write in the place of one character: each function appends it to `text`.

void append_lower(std::string& text, std::int32_t codepoint);
/// Nothing for a mark.
void append_unless_mark(std::string& text, std::int32_t codepoint);
/// Nothing for a mark that takes no room of its own.
void append_unless_nonspacing(std::string& text, std::int32_t codepoint);
/// SentencePiece's rules for translation: nothing for most control characters, a space for others and for marks that
/// show nothing.
void append_nmt(std::string& text, std::int32_t codepoint);
/// BERT's: nothing for control characters, a space for any white space.
void append_clean(std::string& text, std::int32_t codepoint);
/// A Chinese character between two spaces.
void append_spaced_chinese(std::string& text, std::int32_t codepoint);

}  // namespace qkv::tokenizing
