#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::tokenizing {

/// SentencePiece's compiled list of "write this instead of that": the length of a double-array trie in bytes, the trie
/// (of darts-clone's form), then the replacements, each ended by a zero byte.
class Charsmap {
 public:
  Charsmap() = default;  // no rules
  /// Throws Error{model} that begins with `where` when the parts do not fit into `blob`.
  Charsmap(std::string_view blob, const std::string& where);

  struct Rule {
    std::size_t length;  // of the text that it replaces
    std::string_view replacement;
  };
  /// The rules for the shortest and for the longest text that `text` begins with.
  [[nodiscard]] std::optional<Rule> shortest(std::string_view text) const;
  [[nodiscard]] std::optional<Rule> longest(std::string_view text) const;

 private:
  template <typename Each>
  void for_each_prefix(std::string_view text, Each&& each) const;
  [[nodiscard]] Rule rule(std::size_t length, std::uint32_t value) const;
  [[noreturn]] void refuse(std::string_view expected, std::size_t found) const;

  std::string where_;
  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace qkv::tokenizing
