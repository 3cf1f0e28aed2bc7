#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/tokenizer/scored_pieces.hpp"

namespace qkv {

namespace tokenizing {
class DecodeRun;
}

struct EncodeOptions {
  /// Whether the tokenizer's own rule may add tokens (a begin-of-text token, say).
  bool add_special = true;
  /// Whether text that spells a special token becomes that token; else it is text like any other. Added tokens that
  /// are not special are always found.
  bool parse_special = false;
};

/// Turns bytes into token ids and back, by the components that the model directory declares. Immutable; any number
/// of threads may use one.
///
/// Ids are those of the library that defines `tokenizer.json`. Three things differ on purpose: bytes that are not UTF-8
/// are taken as they are (each by its symbol in a byte-level vocabulary, by its "<0xNN>" token, or by the unknown
/// token), decoding gives the exact bytes where that library writes U+FFFD, and added tokens decode to their own text.
/// Text for which the vocabulary has neither token, byte nor unknown token leaves no ids, as there.
class Tokenizer {
 public:
  /// Opens `tokenizer.json`, else `vocab.json` with `merges.txt`, else SentencePiece's `tokenizer.model`, in a model
  /// directory, where `tokenizer_config.json` beside it says what it leaves unsaid; else `tokenizer.gguf` or
  /// `tokenizer.bin` there, as convert writes them; or the tokenizer that a file is or holds. Returns nothing when
  /// there is none. Throws Error{model} naming file and key when what is there cannot be used.
  [[nodiscard]] static std::optional<Tokenizer> open(const std::filesystem::path& path);

  /// From the text of a `tokenizer.json` that is no file of its own; `where` begins every message.
  [[nodiscard]] static Tokenizer from_json(std::string_view text, const std::string& where);

  /// From one file, which is known by its content: a `tokenizer.json`, a SentencePiece model, llama2.c's
  /// `tokenizer.bin`, or GGUF with a tokenizer in its metadata. Nothing beside it is read. Throws Error{model} naming
  /// the file when it is none of them, or cannot be used.
  [[nodiscard]] static Tokenizer open_file(const std::filesystem::path& file);

  /// From pieces with scores, as a GGUF file or llama2.c's `tokenizer.bin` holds them, the way SentencePiece does it.
  /// Ids are places in the list. Control and unknown pieces become special tokens. Throws Error{model} that begins with
  /// `where` when a piece comes twice, a score is not finite, a byte is misspelled, an id is out of range, or a token
  /// that shall be added is not named.
  [[nodiscard]] static Tokenizer from_pieces(const ScoredPieces& pieces, const PieceOptions& options,
                                             const std::string& where);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Any bytes are accepted, valid UTF-8 or not.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view bytes, const EncodeOptions& options) const;

  /// The exact bytes that the ids stand for. Special tokens are left out unless `with_special`. Throws Error{input}
  /// naming an id that is not in the vocabulary.
  [[nodiscard]] std::string decode(std::span<const TokenId> ids, bool with_special = false) const;

  /// The token as the vocabulary spells it ("Ġworld"). Throws Error{input} for an unknown id.
  [[nodiscard]] std::string piece(TokenId id) const;
  /// The bytes that one token stands for by itself (" world"), special tokens included, no prefix space taken away.
  [[nodiscard]] std::string bytes(TokenId id) const;
  [[nodiscard]] std::optional<TokenId> find(std::string_view piece) const;
  /// The tokens that begin and end a text, where the tokenizer's own files name them.
  [[nodiscard]] std::optional<TokenId> bos() const;
  [[nodiscard]] std::optional<TokenId> eos() const;
  /// False for an id that is not in the vocabulary.
  [[nodiscard]] bool is_special(TokenId id) const;
  /// One more than the largest id.
  [[nodiscard]] std::size_t size() const;
  /// One line for people: "BPE, 50257 tokens, byte-level".
  [[nodiscard]] std::string summary() const;

 private:
  friend class StreamDecoder;
  struct Parts;
  static std::optional<Tokenizer> open_directory(const std::filesystem::path& directory);
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

/// Decodes token by token: what push() returned so far, put together with what finish() returns, is what decode() gives
/// for all the ids. Bytes that a later token may still change are held. Characters are not completed here.
class StreamDecoder {
 public:
  /// The tokenizer must outlive the decoder.
  explicit StreamDecoder(const Tokenizer& tokenizer, bool with_special = false);
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  /// The bytes that are certain now. Throws Error{input} for an unknown id.
  [[nodiscard]] std::string push(TokenId id);
  /// What is still held. The decoder is ready for another text then.
  [[nodiscard]] std::string finish();

 private:
  const Tokenizer::Parts* parts_;
  bool with_special_;
  std::unique_ptr<tokenizing::DecodeRun> run_;
};

}  // namespace qkv
