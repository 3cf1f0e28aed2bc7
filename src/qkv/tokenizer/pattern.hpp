#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/io/json_reader.hpp"

namespace qkv::tokenizing {

/// A regular expression as tokenizer files write it (Ruby's syntax, where every class is a Unicode class) in the
/// syntax of PCRE2. `where` begins the message of the Error{model} for what cannot be said there.
[[nodiscard]] std::string to_pcre_syntax(std::string_view expression, const std::string& where);

/// What a normalizer, pre-tokenizer or decoder looks for: a fixed string, or a regular expression, compiled once.
class Pattern {
 public:
  /// Finds `text` itself. An empty text is found nowhere.
  [[nodiscard]] static Pattern literal(std::string text);
  /// Throws Error{model} that begins with `where` when the expression does not compile.
  [[nodiscard]] static Pattern regex(std::string_view expression, const std::string& where);
  /// The pattern under `key`, written {"String": "..."} or {"Regex": "..."}.
  [[nodiscard]] static Pattern read(const JsonReader& object, std::string_view key);

 private:
  friend class PatternScan;
  struct Compiled;

  std::string literal_;
  std::shared_ptr<const Compiled> compiled_;  // absent for a fixed string
};

struct Match {
  std::size_t begin;
  std::size_t end;
};

/// Goes through the matches in a text, left to right. Bytes that are not UTF-8 belong to no match of a regular
/// expression: each stretch of valid text is searched as if it were the whole text.
class PatternScan {
 public:
  PatternScan(const Pattern& pattern, std::string_view text);

  /// The next match; nothing when there is none. Throws Error{model} when the expression needs more steps than are
  /// sane, which a hostile one can be made to do.
  [[nodiscard]] std::optional<Match> next();

 private:
  [[nodiscard]] std::optional<Match> next_literal();
  [[nodiscard]] std::optional<Match> search(std::size_t from) const;
  bool enter_next_stretch();

  const Pattern& pattern_;
  std::string_view text_;
  std::size_t stretch_begin_ = 0;
  std::size_t stretch_end_ = 0;
  std::size_t at_ = 0;
  std::optional<std::size_t> last_match_end_;
};

}  // namespace qkv::tokenizing
