#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv::app {

enum class Bos { automatic, yes, no };

/// The options of every command that takes text.
struct PromptOptions {
  std::string text;
  std::string file;
  std::string ids;
  std::string tokenizer_file;  // empty: the model's own
  Bos bos = Bos::automatic;
  bool special = false;
  bool escape = false;

  void add_to(CLI::App& command);

  /// The tokenizer that is asked for, else the one that belongs to the model, if there is one.
  [[nodiscard]] std::optional<Tokenizer> open_tokenizer(const std::filesystem::path& model) const;
  /// Whether the prompt is given as token ids.
  [[nodiscard]] bool has_ids() const;
  /// Throws Error{usage} where --ids stands beside an option about text, which would mean nothing. With `has_more_text`
  /// other options hold texts that --escape is for.
  void check_ids_alone(bool has_more_text = false) const;
  /// The prompt's bytes: -p, -f, or standard input when it is not a terminal. Throws Error{usage} when there is none.
  [[nodiscard]] std::string read_text() const;
  /// Texts of other options, with the same escapes read where --escape says so.
  [[nodiscard]] std::vector<std::string> unescaped(std::vector<std::string> texts) const;
  /// The bytes as token ids. `bos_token` is the model's own begin token, for --bos yes. Warns of a doubled one.
  [[nodiscard]] std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view bytes,
                                            std::optional<TokenId> bos_token) const;
  /// The prompt as token ids, from text or from --ids. `tokenizer` may be null. Throws Error{model} when there is text
  /// and no tokenizer.
  [[nodiscard]] std::vector<TokenId> read_ids(const Tokenizer* tokenizer, std::optional<TokenId> bos_token) const;

 private:
  CLI::Option* text_option_ = nullptr;
  CLI::Option* ids_option_ = nullptr;
};

}  // namespace qkv::app
