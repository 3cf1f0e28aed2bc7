#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "qkv/io/json_reader.hpp"
#include "qkv/tokenizer/pattern.hpp"

namespace qkv::tokenizing {

/// What becomes of a delimiter when text is split at it.
enum class SplitBehavior { isolated, removed, merged_with_previous, merged_with_next, contiguous };

/// The behaviour named under "behavior".
[[nodiscard]] SplitBehavior read_split_behavior(const JsonReader& object);

/// A part of a text, and whether it is a delimiter.
struct Span {
  std::size_t begin;
  std::size_t end;
  bool is_match;
};

/// The matches of `pattern` and what stands between them, which together are the whole text.
[[nodiscard]] std::vector<Span> spans_of(const Pattern& pattern, std::string_view text);

/// The same, where each character for which `is_delimiter` holds is a match by itself.
[[nodiscard]] std::vector<Span> spans_of(bool (*is_delimiter)(std::int32_t codepoint), std::string_view text);

/// The parts that are left when `spans` are split: never empty ones.
[[nodiscard]] std::vector<Span> split_spans(const std::vector<Span>& spans, SplitBehavior behavior);

}  // namespace qkv::tokenizing
