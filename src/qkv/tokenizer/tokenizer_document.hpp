#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/tokenizer/vocabulary.hpp"

namespace qkv::tokenizing {

/// A tokenizer file taken apart. The two large tables never become JSON values, which would cost most of the time
/// that opening a tokenizer takes: in `rest` an empty object and an empty array stand in their places.
struct TokenizerDocument {
  nlohmann::json rest;
  VocabularyEntries vocabulary;  // model.vocab; where that is an array, ids are places in it
  std::vector<double> scores;    // of the pieces, where model.vocab is an array of [piece, score]
  PieceList merges;              // model.merges, when it is an array: the left and the right half of each, in turn
};

/// Reads the text of a `tokenizer.json`. Throws Error{model} that begins with `where` on a syntax error, a key given
/// twice, an id that is none, a merge of another form than "a b" or ["a", "b"], a piece of another form than ["a",
/// -1.5], and senselessly deep nesting.
[[nodiscard]] TokenizerDocument read_tokenizer_document(std::string_view text, const std::string& where);

/// Reads the text of a `vocab.json`: one object of pieces and ids. Errors as above.
[[nodiscard]] VocabularyEntries read_vocabulary(std::string_view text, const std::string& where);

/// Appends the halves of a merge written "a b" to `merges`; false when it has another form.
[[nodiscard]] bool append_merge(PieceList& merges, std::string_view written);

}  // namespace qkv::tokenizing
