#include "qkv/generate/stop_matcher.hpp"

#include <algorithm>
#include <utility>

namespace qkv {

std::string StopMatcher::push(std::string_view text) {
  if (found_) return {};
  pending_ += text;
  auto first = std::string::npos;
  for (const auto& stop : stops_) first = std::min(first, pending_.find(stop));
  found_ = first != std::string::npos;
  auto shown = pending_.substr(0, found_ ? first : pending_.size() - held_length());
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
