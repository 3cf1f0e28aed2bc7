#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv::tokenizing {

/// Finds every one of a list of strings that a text begins with. The children of a node lie side by side.
class ByteTrie {
 public:
  using Strings = std::vector<std::pair<std::string_view, std::int32_t>>;

  ByteTrie() : ByteTrie(Strings()) {}
  /// Strings and their values, which are not negative. Of equal strings the last one counts; empty ones are left out.
  explicit ByteTrie(Strings strings);

  [[nodiscard]] bool empty() const { return nodes_.size() == 2; }

  /// Calls `each(length, value)` for every string that `text` begins with, the shortest first.
  template <typename Each>
  void for_each_prefix(std::string_view text, Each&& each) const {
    std::uint32_t node = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto first = nodes_[node].first_child;
      const auto n_children = nodes_[node + 1].first_child - first;
      if (n_children == 0) return;
      const auto* labels = labels_.data() + first;
      const auto* found = std::memchr(labels, static_cast<unsigned char>(text[at]), n_children);
      if (found == nullptr) return;
      node = first + static_cast<std::uint32_t>(static_cast<const char*>(found) - labels);
      if (nodes_[node].value >= 0) each(at + 1, nodes_[node].value);
    }
  }

 private:
  struct Node {
    std::uint32_t first_child;  // the last child is before the next node's first
    std::int32_t value;         // -1: no string ends here
  };
  std::vector<Node> nodes_;   // and one behind the last
  std::vector<char> labels_;  // the byte that leads to each node
};

}  // namespace qkv::tokenizing
