#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/tokenizer/normalizer.hpp"
#include "qkv/tokenizer/vocabulary.hpp"

namespace qkv::tokenizing {

/// A token that is looked for in the text itself, before the model sees it.
struct AddedToken {
  std::string content;
  TokenId id;
  bool special;      // says something about the text, rather than being part of it
  bool normalized;   // looked for in the text after the normalizer, else before it
  bool single_word;  // only where no word goes on to the left or right
  bool lstrip;       // takes the white space on its left
  bool rstrip;       // takes the white space on its right
};

/// Finds any of a list of strings, the leftmost first and the longest of those that begin there.
class StringFinder {
 public:
  void add(std::string_view text, std::size_t index);

  struct Found {
    std::size_t begin;
    std::size_t end;
    std::size_t index;  // as given to add()
  };
  /// The first of the strings whose index `wanted` accepts, at or after `from`.
  [[nodiscard]] std::optional<Found> find(std::string_view text, std::size_t from,
                                          const std::function<bool(std::size_t)>& wanted) const;

 private:
  static constexpr std::uint32_t nowhere = 0;
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);
  struct Node {
    std::uint32_t first_child = nowhere;
    std::uint32_t next_sibling = nowhere;
    std::size_t index = no_index;  // of the string that ends here
    char byte = 0;
  };
  [[nodiscard]] std::uint32_t child(std::uint32_t node, char byte) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);  // a tree of bytes; node 0 is its root
  std::vector<bool> first_bytes_ = std::vector<bool>(256);
};

/// All added tokens of a tokenizer.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// `normalizer` may be null. Throws Error{model} that begins with `where` when two tokens share id or content, or
  /// when one contradicts the model's vocabulary.
  AddedTokens(std::vector<AddedToken> tokens, const Vocabulary& model, const Normalizer* normalizer,
              const std::string& where);

  enum class Stage { before_normalizer, after_normalizer };
  /// Hands on the parts of `text` in order: text, which is never empty, and tokens.
  void split(Stage stage, std::string_view text, bool parse_special,
             const std::function<void(std::string_view text, bool at_start)>& on_text,
             const std::function<void(TokenId)>& on_token) const;

  [[nodiscard]] const AddedToken* find(TokenId id) const;
  [[nodiscard]] const AddedToken* find(std::string_view content) const;
  [[nodiscard]] const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  void refuse_contradictions(const Vocabulary& model, const std::string& where) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::size_t> by_id_;       // indices, sorted by id
  std::vector<std::size_t> by_content_;  // indices, sorted by content
  StringFinder before_;
  StringFinder after_;
};

/// The tokens listed under "added_tokens" of a tokenizer file; none when it has no such list.
[[nodiscard]] std::vector<AddedToken> read_added_tokens(const JsonReader& file);

}  // namespace qkv::tokenizing
