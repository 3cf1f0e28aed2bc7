#include "qkv/generate/stop_matcher.hpp"

#include <algorithm>
#include <utility>

namespace qkv {

std::string StopMatcher::push(std::string_view text) {
  if (found_) return {};
  pending_ += text;
  // The stop text that is whole first, so that the pieces in which the text comes make no difference.
  auto first = std::pair(std::string::npos, std::string::npos);  // its end and its beginning
  for (const auto& stop : stops_)
    if (const auto begin = pending_.find(stop); begin != std::string::npos)
      first = std::min(first, std::pair(begin + stop.size(), begin));
  found_ = first.first != std::string::npos;
  auto shown = pending_.substr(0, found_ ? first.second : pending_.size() - held_length());
  pending_ = found_ ? std::string() : pending_.substr(shown.size());
  return shown;
}

std::string StopMatcher::finish() { return std::exchange(pending_, {}); }

/// The longest end of the text that some stop text begins with.
std::size_t StopMatcher::held_length() const {
  std::size_t longest = 0;
  for (const auto& stop : stops_) {
    auto length = std::min(stop.size() - 1, pending_.size());
    while (length > longest && pending_.compare(pending_.size() - length, length, stop, 0, length) != 0) --length;
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace qkv
