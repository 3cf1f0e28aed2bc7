#include "qkv/tokenizer/split.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "qkv/core/utf8.hpp"

namespace qkv::tokenizing {
namespace {

constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> behaviors = {{
    {"Isolated", SplitBehavior::isolated},
    {"Removed", SplitBehavior::removed},
    {"MergedWithPrevious", SplitBehavior::merged_with_previous},
    {"MergedWithNext", SplitBehavior::merged_with_next},
    {"Contiguous", SplitBehavior::contiguous},
}};

/// Whether `span` joins the part made from what came just before it.
bool joins(const Span& span, bool after_match, SplitBehavior behavior) {
  if (behavior == SplitBehavior::contiguous) return span.is_match == after_match;
  return span.is_match && !after_match;
}

/// Joins spans with what came before them. With MergedWithNext the caller hands them over from the end.
std::vector<Span> join_spans(const std::vector<Span>& spans, SplitBehavior behavior) {
  std::vector<Span> parts;
  bool after_match = false;
  for (const auto& span : spans) {
    if (!parts.empty() && joins(span, after_match, behavior)) {
      parts.back().begin = std::min(parts.back().begin, span.begin);
      parts.back().end = std::max(parts.back().end, span.end);
    } else {
      parts.push_back(span);
    }
    after_match = span.is_match;
  }
  return parts;
}

}  // namespace

SplitBehavior read_split_behavior(const JsonReader& object) {
  const auto name = object.text("behavior");
  for (const auto& [known, behavior] : behaviors)
    if (known == name) return behavior;
  object.fail("behavior", "Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous");
}

std::vector<Span> spans_of(const Pattern& pattern, std::string_view text) {
  std::vector<Span> spans;
  std::size_t done = 0;
  PatternScan scan(pattern, text);
  while (const auto match = scan.next()) {
    const auto begin = std::max(match->begin, done);
    if (begin > done) spans.push_back({done, begin, false});
    spans.push_back({begin, match->end, true});
    done = match->end;
  }
  if (done < text.size()) spans.push_back({done, text.size(), false});
  return spans;
}

std::vector<Span> spans_of(bool (*is_delimiter)(std::int32_t codepoint), std::string_view text) {
  std::vector<Span> spans;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8_next(text, at);
    if (is_delimiter(step.codepoint)) {
      if (at > done) spans.push_back({done, at, false});
      done = at + step.length;
      spans.push_back({at, done, true});
    }
    at += step.length;
  }
  if (done < text.size()) spans.push_back({done, text.size(), false});
  return spans;
}

std::vector<Span> split_spans(const std::vector<Span>& spans, SplitBehavior behavior) {
  std::vector<Span> parts;
  switch (behavior) {
    case SplitBehavior::isolated:
    case SplitBehavior::removed:
      parts = spans;
      break;
    case SplitBehavior::merged_with_previous:
    case SplitBehavior::contiguous:
      parts = join_spans(spans, behavior);
      break;
    case SplitBehavior::merged_with_next:
      parts = join_spans({spans.rbegin(), spans.rend()}, behavior);
      std::reverse(parts.begin(), parts.end());
      break;
  }
  const bool drop_matches = behavior == SplitBehavior::removed;
  const auto is_dropped = [&](const Span& part) { return part.begin == part.end || (drop_matches && part.is_match); };
  parts.erase(std::remove_if(parts.begin(), parts.end(), is_dropped), parts.end());
  return parts;
}

}  // namespace qkv::tokenizing
