#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "qkv/tokenizer/added_tokens.hpp"
#include "qkv/tokenizer/decoder.hpp"
#include "qkv/tokenizer/normalizer.hpp"
#include "qkv/tokenizer/post_processor.hpp"
#include "qkv/tokenizer/pre_tokenizer.hpp"
#include "qkv/tokenizer/token_model.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv {

class GgufFile;

/// The components of a tokenizer, in the order in which text goes through them; the decoder works the other way.
struct Tokenizer::Parts {
  tokenizing::AddedTokens added;
  std::unique_ptr<const tokenizing::Normalizer> normalizer;       // may be absent
  std::unique_ptr<const tokenizing::PreTokenizer> pre_tokenizer;  // may be absent
  std::unique_ptr<const tokenizing::TokenModel> model;
  std::unique_ptr<const tokenizing::PostProcessor> post_processor;  // may be absent
  std::unique_ptr<const tokenizing::Decoder> decoder;
  // Where the files name them.
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;

  /// A token as the vocabulary spells it.
  struct Spelling {
    std::string_view piece;
    bool added;
  };
  /// Throws Error{input} for an id that is not in the vocabulary.
  [[nodiscard]] Spelling spelling(TokenId id) const;
  [[nodiscard]] bool is_special(TokenId id) const;
  [[nodiscard]] std::int64_t max_id() const;

  /// Takes from a tokenizer_config.json what the files so far leave unsaid: which tokens begin and end a text, and
  /// whether they are added. `from_model_file` where there was no tokenizer.json. Throws Error{model} naming file and
  /// key.
  void apply_config(const JsonReader& config, bool from_model_file);

  /// From the text of a `tokenizer.json`; `where` begins every message.
  static std::unique_ptr<Parts> from_json(std::string_view text, const std::string& where);
  /// From what such a file holds.
  static std::unique_ptr<Parts> from_document(tokenizing::TokenizerDocument document, const std::string& where);
  /// From the metadata of a GGUF file; null where it says that there is no vocabulary.
  static std::unique_ptr<Parts> from_gguf(const GgufFile& file);
  /// From the two files that GPT-2 was first published with.
  static std::unique_ptr<Parts> from_gpt2_files(const std::filesystem::path& vocabulary,
                                                const std::filesystem::path& merges);
  /// From pieces with scores, as SentencePiece has them.
  static std::unique_ptr<Parts> from_pieces(const ScoredPieces& pieces, const PieceOptions& options,
                                            const std::string& where);
  /// From the bytes of a SentencePiece model. Nothing is added around a text.
  static std::unique_ptr<Parts> from_sentencepiece(std::string_view bytes, const std::string& where);
  /// From the bytes of llama2.c's tokenizer.bin.
  static std::unique_ptr<Parts> from_llama2c(std::string_view bytes, const std::string& where);
};

namespace tokenizing {

/// The whole of a file, as text.
[[nodiscard]] std::string_view text_of(std::span<const std::byte> bytes);

}  // namespace tokenizing
}  // namespace qkv
