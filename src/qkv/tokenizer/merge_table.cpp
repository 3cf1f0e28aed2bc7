#include "qkv/tokenizer/merge_table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

namespace qkv::tokenizing {
namespace {

constexpr std::size_t short_enough = 48;

/// For a few tokens, looking at every pair anew beats keeping a queue.
void merge_short(const MergeTable& table, std::vector<TokenId>& tokens) {
  std::array<Merge, short_enough> merges;  // of tokens i and i + 1
  auto n_pairs = tokens.size() - 1;
  for (std::size_t i = 0; i < n_pairs; ++i) merges[i] = table.find(tokens[i], tokens[i + 1]);
  while (n_pairs > 0) {
    const auto first = static_cast<std::size_t>(
        std::min_element(merges.begin(), merges.begin() + static_cast<std::ptrdiff_t>(n_pairs)) - merges.begin());
    if (!merges[first].exists()) break;
    tokens[first] = merges[first].made();
    for (auto i = first; i + 1 < n_pairs; ++i) {
      tokens[i + 1] = tokens[i + 2];
      merges[i] = merges[i + 1];
    }
    --n_pairs;
    if (first > 0) merges[first - 1] = table.find(tokens[first - 1], tokens[first]);
    if (first < n_pairs) merges[first] = table.find(tokens[first], tokens[first + 1]);
  }
  tokens.resize(n_pairs + 1);
}

/// For many tokens: a queue of merges that may apply, in order, over a doubly linked list of the tokens that are left.
class LongMerge {
 public:
  LongMerge(const MergeTable& table, std::vector<TokenId>& tokens) : table_(table), tokens_(tokens) {}

  void run() {
    const auto n = static_cast<std::uint32_t>(tokens_.size());
    links_.resize(n);
    merges_.resize(n);
    std::vector<std::uint64_t> entries;
    for (std::uint32_t i = 0; i < n; ++i) {
      links_[i] = {i == 0 ? nowhere : i - 1, i + 1 == n ? nowhere : i + 1};
      if (i + 1 < n) merges_[i] = table_.find(tokens_[i], tokens_[i + 1]);
      if (merges_[i].exists()) entries.push_back(entry(i));
    }
    queue_ = Queue(std::greater<>(), std::move(entries));
    while (!queue_.empty()) {
      const auto top = queue_.top();
      queue_.pop();
      const auto at = static_cast<std::uint32_t>(top);
      // An entry whose pair has changed since, or whose left token is gone, no longer says what `merges_` says.
      if (merges_[at].exists() && entry(at) == top) join(at);
    }
    collect();
  }

 private:
  static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
  struct Link {
    std::uint32_t previous;
    std::uint32_t next;
  };
  using Queue = std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>>;

  /// Rank first, then place: the smallest entry is the merge that is due.
  std::uint64_t entry(std::uint32_t at) const { return (std::uint64_t{merges_[at].rank()} << 32U) | at; }

  void join(std::uint32_t at) {
    const auto right = links_[at].next;
    const auto after = links_[right].next;
    tokens_[at] = merges_[at].made();
    links_[at].next = after;
    if (after != nowhere) links_[after].previous = at;
    merges_[right] = Merge();
    look_up(at);
    if (links_[at].previous != nowhere) look_up(links_[at].previous);
  }

  void look_up(std::uint32_t at) {
    const auto next = links_[at].next;
    merges_[at] = next == nowhere ? Merge() : table_.find(tokens_[at], tokens_[next]);
    if (merges_[at].exists()) queue_.push(entry(at));
  }

  void collect() {
    std::size_t n = 0;
    for (std::uint32_t at = 0; at != nowhere; at = links_[at].next) tokens_[n++] = tokens_[at];
    tokens_.resize(n);
  }

  const MergeTable& table_;
  std::vector<TokenId>& tokens_;
  std::vector<Link> links_;
  std::vector<Merge> merges_;  // of the token here and the next one
  Queue queue_;
};

}  // namespace

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  const auto key = key_of(left, right);
  const auto mask = slots_.size() - 1;
  auto at = mix(key) & mask;
  while (slots_[at].key != key && slots_[at].key != no_key) at = (at + 1) & mask;
  slots_[at] = {key, merge};
}

void apply_merges(const MergeTable& table, std::vector<TokenId>& tokens) {
  if (tokens.size() < 2) return;
  if (tokens.size() <= short_enough)
    merge_short(table, tokens);
  else
    LongMerge(table, tokens).run();
}

}  // namespace qkv::tokenizing
