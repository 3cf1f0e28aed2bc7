#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// Looks for stop texts in text that comes in pieces, and holds back what may be the beginning of one.
class StopMatcher {
 public:
  /// The texts must not be empty.
  explicit StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Returns what can be shown by now: up to the stop text that is whole first, if one was found.
  [[nodiscard]] std::string push(std::string_view text);
  /// What is still held.
  [[nodiscard]] std::string finish();
  [[nodiscard]] bool found() const { return found_; }

 private:
  [[nodiscard]] std::size_t held_length() const;

  std::vector<std::string> stops_;
  std::string pending_;
  bool found_ = false;
};

}  // namespace qkv
