#include "qkv/tokenizer/piece_normalizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/charsmap.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

class PieceNormalizer final : public Normalizer {
 public:
  PieceNormalizer(const PieceOptions& options, ByteTrie untouched, Charsmap rules)
      : space_(options.escape_spaces ? "▁" : " "),
        add_prefix_(options.add_dummy_prefix),
        remove_extra_(options.remove_extra_spaces),
        has_rules_(!options.charsmap.empty()),
        untouched_(std::move(untouched)),
        rules_(std::move(rules)) {}

 private:
  std::string rewrite(std::string text, std::size_t most) const override {
    std::string_view rest = text;
    if (remove_extra_) remove_leading_spaces(rest);
    if (rest.empty()) return {};
    std::string normal;
    normal.reserve(text.size() + text.size() / 2);
    if (add_prefix_) normal += space_;
    bool after_space = remove_extra_;
    while (!rest.empty()) {
      auto [part, length] = first_part(rest);
      rest.remove_prefix(length);
      while (after_space && part.starts_with(' ')) part.remove_prefix(1);
      if (part.empty()) continue;
      append(normal, part);
      check_normal_size(normal.size(), most);
      after_space = remove_extra_ && part.ends_with(' ');
    }
    while (remove_extra_ && normal.ends_with(space_)) normal.resize(normal.size() - space_.size());
    return normal;
  }

  struct Part {
    std::string_view text;  // as it shall be
    std::size_t length;     // of what it was
  };

  Part first_part(std::string_view text) const {
    std::size_t length = 0;
    if (!untouched_.empty()) {
      untouched_.for_each_prefix(text, [&](std::size_t found, std::int32_t) { length = found; });
      if (length > 0) return {text.substr(0, length), length};
    }
    if (has_rules_)
      if (const auto rule = rules_.longest(text)) return {rule->replacement, rule->length};
    // Without rules, nothing happens to any character but a space.
    length = has_rules_ || !untouched_.empty() ? utf8_next(text, 0).length : plain_length(text);
    return {text.substr(0, length), length};
  }

  /// A space, or what comes before the next one.
  static std::size_t plain_length(std::string_view text) {
    return text[0] == ' ' ? 1 : std::min(text.find(' '), text.size());
  }

  void remove_leading_spaces(std::string_view& text) const {
    while (!text.empty()) {
      const auto part = first_part(text);
      if (part.text != " ") return;
      text.remove_prefix(part.length);
    }
  }

  void append(std::string& normal, std::string_view part) const {
    while (!part.empty()) {
      const auto n_before = std::min(part.find(' '), part.size());
      normal.append(part.substr(0, n_before));
      if (n_before == part.size()) return;
      normal += space_;
      part.remove_prefix(n_before + 1);
    }
  }

  std::string space_;
  bool add_prefix_;
  bool remove_extra_;
  bool has_rules_;
  ByteTrie untouched_;
  Charsmap rules_;
};

}  // namespace

std::unique_ptr<const Normalizer> make_piece_normalizer(const PieceOptions& options, ByteTrie untouched,
                                                        const std::string& where) {
  auto rules = options.charsmap.empty() ? Charsmap() : Charsmap(options.charsmap, fmt::format("{}: charsmap", where));
  return std::make_unique<PieceNormalizer>(options, std::move(untouched), std::move(rules));
}

}  // namespace qkv::tokenizing
