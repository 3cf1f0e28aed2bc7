#include "qkv/tokenizer/byte_trie.hpp"

#include <algorithm>

namespace qkv::tokenizing {

ByteTrie::ByteTrie(Strings strings) {
  std::stable_sort(strings.begin(), strings.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // Level by level, so that the children of a node come one after the other: each node is a range of sorted strings
  // that begin alike.
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };
  std::vector<Range> ranges{{0, strings.size(), 0}};
  labels_.push_back('\0');
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    std::int32_t value = -1;
    for (; begin < end && strings[begin].first.size() == depth; ++begin)
      if (depth > 0) value = strings[begin].second;
    nodes_.push_back({static_cast<std::uint32_t>(ranges.size()), value});
    while (begin < end) {
      const auto byte = strings[begin].first[depth];
      auto after = begin;
      while (after < end && strings[after].first[depth] == byte) ++after;
      ranges.push_back({begin, after, depth + 1});
      labels_.push_back(byte);
      begin = after;
    }
  }
  nodes_.push_back({static_cast<std::uint32_t>(ranges.size()), -1});
}

}  // namespace qkv::tokenizing
