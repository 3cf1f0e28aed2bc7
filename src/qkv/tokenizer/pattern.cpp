#include "qkv/tokenizer/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <cstdint>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/component.hpp"
#include "qkv/tokenizer/unicode.hpp"

namespace qkv::tokenizing {
namespace {

template <auto free_function>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using CodePointer = std::unique_ptr<pcre2_code, FreeWith<pcre2_code_free>>;
using MatchDataPointer = std::unique_ptr<pcre2_match_data, FreeWith<pcre2_match_data_free>>;
using MatchContextPointer = std::unique_ptr<pcre2_match_context, FreeWith<pcre2_match_context_free>>;
using CompileContextPointer = std::unique_ptr<pcre2_compile_context, FreeWith<pcre2_compile_context_free>>;

/// Only where a whole match begins and ends is ever asked, so one block per thread serves every pattern.
pcre2_match_data* match_data() {
  thread_local const MatchDataPointer data(pcre2_match_data_create(1, nullptr));
  if (!data) throw Error(ErrorCode::failed, "pattern search: out of memory");
  return data.get();
}

/// Groups in groups can want many kilobytes for each character that they go over; the library would give them 20 GB.
pcre2_match_context* match_context() {
  constexpr std::uint32_t most_kibibytes = 1U << 19U;
  thread_local const MatchContextPointer context(pcre2_match_context_create(nullptr));
  if (!context) throw Error(ErrorCode::failed, "pattern search: out of memory");
  pcre2_set_heap_limit(context.get(), most_kibibytes);
  return context.get();
}

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

PCRE2_SPTR as_pcre(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Pattern::Compiled {
  CodePointer code;
  bool has_jit;
  std::string where;
};

Pattern Pattern::literal(std::string text) {
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(std::string_view expression, const std::string& where) {
  const auto translated = to_pcre_syntax(expression, where);
  const CompileContextPointer context(pcre2_compile_context_create(nullptr));
  if (!context) throw Error(ErrorCode::failed, "pattern: out of memory");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  // In Ruby's syntax ^ and $ always stand for the ends of a line.
  constexpr auto options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  CodePointer code(pcre2_compile(as_pcre(translated), translated.size(), options, &error, &offset, context.get()));
  if (!code)
    throw Error(ErrorCode::model, fmt::format("{}: expected a regular expression, found {}: {} at byte {}", where,
                                              in_quotes(expression), error_text(error), offset));
  const bool has_jit = pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) == 0;
  Pattern pattern;
  pattern.compiled_ = std::make_shared<const Compiled>(Compiled{std::move(code), has_jit, where});
  return pattern;
}

Pattern Pattern::read(const JsonReader& object, std::string_view key) {
  const auto reader = object.object(key);
  auto pattern = reader.has("String") ? literal(reader.text("String"))
                                      : regex(reader.text("Regex"), fmt::format("{}: key 'Regex'", reader.where()));
  refuse_unread(reader);
  return pattern;
}

PatternScan::PatternScan(const Pattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {
  if (pattern_.compiled_) enter_next_stretch();
}

bool PatternScan::enter_next_stretch() {
  stretch_begin_ = stretch_end_ + invalid_prefix(text_.substr(stretch_end_));
  stretch_end_ = stretch_begin_ + valid_prefix(text_.substr(stretch_begin_));
  at_ = stretch_begin_;
  last_match_end_.reset();
  return stretch_begin_ < stretch_end_;
}

std::optional<Match> PatternScan::next_literal() {
  if (pattern_.literal_.empty()) return std::nullopt;
  const auto found = text_.find(pattern_.literal_, at_);
  if (found == std::string_view::npos) return std::nullopt;
  at_ = found + pattern_.literal_.size();
  return Match{found, at_};
}

std::optional<Match> PatternScan::search(std::size_t from) const {
  const auto& compiled = *pattern_.compiled_;
  const auto subject = text_.substr(stretch_begin_, stretch_end_ - stretch_begin_);
  auto* data = match_data();
  const auto offset = from - stretch_begin_;
  int found = PCRE2_ERROR_JIT_STACKLIMIT;
  if (compiled.has_jit)
    found = pcre2_jit_match(compiled.code.get(), as_pcre(subject), subject.size(), offset, 0, data, nullptr);
  // The interpreter keeps its state on the heap and is slower; it takes over what is too deep for compiled code.
  if (found == PCRE2_ERROR_JIT_STACKLIMIT)
    found = pcre2_match(compiled.code.get(), as_pcre(subject), subject.size(), offset,
                        PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, match_context());
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (found < 0)
    throw Error(ErrorCode::model,
                fmt::format("{}: expected an expression that can be searched for, found: {} at byte {}", compiled.where,
                            error_text(found), from));
  const auto* ends = pcre2_get_ovector_pointer(data);
  // \K inside a look-ahead can put the beginning behind the end.
  return Match{stretch_begin_ + std::min(ends[0], ends[1]), stretch_begin_ + ends[1]};
}

std::optional<Match> PatternScan::next() {
  if (!pattern_.compiled_) return next_literal();
  if (stretch_begin_ == stretch_end_) return std::nullopt;
  while (true) {
    const auto match = at_ <= stretch_end_ ? search(at_) : std::nullopt;
    if (!match) {
      if (!enter_next_stretch()) return std::nullopt;
      continue;
    }
    // An empty match right behind the last match would be found for ever.
    if (match->begin == match->end && last_match_end_ == match->end) {
      at_ = at_ < stretch_end_ ? at_ + utf8_next(text_, at_).length : stretch_end_ + 1;
      continue;
    }
    at_ = match->end;
    last_match_end_ = match->end;
    return match;
  }
}

}  // namespace qkv::tokenizing
