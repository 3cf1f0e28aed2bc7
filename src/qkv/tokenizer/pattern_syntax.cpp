#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/pattern.hpp"

namespace qkv::tokenizing {
namespace {

// What the two syntaxes write alike and mean differently. PCRE2's \s has U+180E besides, its \w lacks marks, its \h is
// a blank, its [:alpha:] is letters only, and a script's name means the extended script.
constexpr std::string_view word_class = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
constexpr std::string_view hex_class = "0-9a-fA-F";
// Outside of a set, \w has the superscripts and fractions of Latin-1 too.
constexpr std::string_view word_alone = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";

struct NamedClass {
  std::string_view name;
  std::string_view members;
};
constexpr std::array<NamedClass, 9> named_classes = {{{"alpha", "\\p{Alphabetic}"},
                                                      {"alnum", "\\p{Alphabetic}\\p{Nd}"},
                                                      {"digit", "\\p{Nd}"},
                                                      {"lower", "\\p{Lowercase}"},
                                                      {"punct", "\\p{P}\\p{S}"},
                                                      {"space", "\\p{White_Space}"},
                                                      {"upper", "\\p{Uppercase}"},
                                                      {"word", word_class},
                                                      {"xdigit", hex_class}}};
constexpr std::array<std::string_view, 16> scripts = {"Han",    "Hiragana", "Katakana",   "Hangul", "Latin", "Greek",
                                                      "Arabic", "Cyrillic", "Devanagari", "Hebrew", "Thai",  "Bengali",
                                                      "Tamil",  "Khmer",    "Myanmar",    "Tibetan"};

/// Goes through an expression once and writes it anew.
class Translation {
 public:
  Translation(std::string_view expression, const std::string& where) : in_(expression), where_(where) {}

  std::string run() {
    while (at_ < in_.size()) {
      switch (in_[at_]) {
        case '\\':
          begin_atom();
          escape(false);
          break;
        case '[':
          begin_atom();
          set();
          break;
        case '(':
          open_groups_.push_back(out_.size());
          copy(1);
          break;
        case ')':
          if (!open_groups_.empty()) {
            atom_ = open_groups_.back();
            open_groups_.pop_back();
          }
          copy(1);
          break;
        case '{':
          interval();
          break;
        case '*':
        case '+':
        case '?':
          copy(1);
          break;
        default:
          begin_atom();
          copy(utf8_next(in_, at_).length);
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(ErrorCode::model, fmt::format("{}: expected a regular expression without {}, found {} at byte {}",
                                              where_, what, in_quotes(in_), at_));
  }

  void begin_atom() { atom_ = out_.size(); }

  void copy(std::size_t length) {
    out_.append(in_.substr(at_, length));
    at_ += std::min(length, in_.size() - at_);
  }

  void replace(std::size_t length, std::string_view text) {
    out_.append(text);
    at_ += length;
  }

  /// A class that may stand by itself or inside a set.
  void replace_class(bool in_set, bool negated, std::string_view members) {
    if (in_set && negated) refuse("\\W or \\H inside a set");
    replace(2, in_set ? std::string(members) : fmt::format("[{}{}]", negated ? "^" : "", members));
  }

  void escape(bool in_set) {
    const char what = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
    switch (what) {
      case 's':
        return replace(2, "\\p{White_Space}");
      case 'S':
        return replace(2, "\\P{White_Space}");
      case 'w':
      case 'W':
        return replace_class(in_set, what == 'W', in_set ? word_class : word_alone);
      case 'h':
      case 'H':
        return replace_class(in_set, what == 'H', hex_class);
      case 'b':
      case 'B':
        if (in_set) return copy(2);  // a backspace
        return replace(2, what == 'b' ? fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", word_alone)
                                      : fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", word_alone));
      case 'u': {
        const auto digits = in_.substr(at_ + 2, 4);
        if (digits.size() == 4) return replace(6, fmt::format("\\x{{{}}}", digits));
        return copy(2);
      }
      case 'p':
      case 'P':
        return property();
      default:
        copy(1);
        if (at_ < in_.size()) copy(utf8_next(in_, at_).length);
    }
  }

  void property() {
    const auto close = in_.find('}', at_);
    if (close == std::string_view::npos || at_ + 2 >= in_.size() || in_[at_ + 2] != '{') return copy(2);
    auto name = in_.substr(at_ + 3, close - at_ - 3);
    const bool negated = name.substr(0, 1) == "^";
    if (negated) name.remove_prefix(1);
    if (std::find(scripts.begin(), scripts.end(), name) == scripts.end()) return copy(close + 1 - at_);
    replace(close + 1 - at_, fmt::format("\\{}{{{}sc:{}}}", in_[at_ + 1], negated ? "^" : "", name));
  }

  void set() {
    copy(1);
    if (at_ < in_.size() && in_[at_] == '^') copy(1);
    if (at_ < in_.size() && in_[at_] == ']') copy(1);
    while (at_ < in_.size() && in_[at_] != ']') {
      if (in_[at_] == '\\') {
        escape(true);
      } else if (in_.substr(at_, 2) == "[:") {
        named_class();
      } else if (in_[at_] == '[') {
        refuse("a set inside a set");
      } else if (in_.substr(at_, 2) == "&&") {
        refuse("an intersection of sets");
      } else {
        copy(utf8_next(in_, at_).length);
      }
    }
    copy(1);
  }

  void named_class() {
    const auto close = in_.find(":]", at_);
    const auto name = close == std::string_view::npos ? std::string_view() : in_.substr(at_ + 2, close - at_ - 2);
    for (const auto& known : named_classes)
      if (known.name == name) return replace(name.size() + 4, known.members);
    refuse("a named class that is not known here");
  }

  /// X{n,m}+ repeats X{n,m} in Ruby's syntax, and X{n}? makes it optional. In PCRE2's they mean "give nothing back" and
  /// "as few as possible".
  void interval() {
    const auto close = in_.find('}', at_);
    const auto inside = close == std::string_view::npos ? std::string_view() : in_.substr(at_ + 1, close - at_ - 1);
    const bool is_interval = !inside.empty() && inside.find_first_not_of("0123456789,") == std::string_view::npos;
    if (!is_interval) {
      begin_atom();
      return copy(1);
    }
    copy(close + 1 - at_);
    const char after = at_ < in_.size() ? in_[at_] : '\0';
    const bool is_exact = inside.find(',') == std::string_view::npos;
    if (after == '+' || (after == '?' && is_exact)) {
      out_.insert(atom_, "(?:");
      out_ += ')';
      copy(1);
    }
  }

  std::string_view in_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t atom_ = 0;  // where in out_ the thing begins that a quantifier would repeat
  std::vector<std::size_t> open_groups_;
};

}  // namespace

std::string to_pcre_syntax(std::string_view expression, const std::string& where) {
  return Translation(expression, where).run();
}

}  // namespace qkv::tokenizing
