#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "qkv/core/token_id.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/byte_trie.hpp"

namespace qkv::tokenizing {

/// The pieces of a text whose scores, the logarithms of their probabilities, have the largest sum: for each place the
/// best way to it, and from there on. A character that is no piece by itself may also be unknown, at a score below all
/// others. `Score` is the precision that sums are kept in, on which the choice among nearly equal ways depends.
template <typename Score>
class Viterbi {
 public:
  struct Step {
    std::size_t begin;
    std::size_t end;
    TokenId id;
  };

  /// The steps of the best way, from the end of the text to its start. `score_of(id, length)` is a piece's score.
  template <typename ScoreOf>
  const std::vector<Step>& run(std::string_view text, const ByteTrie& pieces, Score unknown_score, TokenId unknown,
                               ScoreOf&& score_of) {
    ways_.assign(text.size() + 1, Way{});
    for (std::size_t at = 0, n = 0; at < text.size(); at += n) {
      n = utf8_next(text, at).length;
      bool is_piece = false;
      const auto so_far = ways_[at].score;
      pieces.for_each_prefix(text.substr(at), [&](std::size_t length, TokenId id) {
        is_piece = is_piece || length == n;
        ways_[at + length].improve(static_cast<double>(score_of(id, length)) + static_cast<double>(so_far), at, id);
      });
      if (!is_piece)
        ways_[at + n].improve(static_cast<double>(static_cast<Score>(unknown_score + so_far)), at, unknown);
    }
    steps_.clear();
    for (auto end = text.size(); end > 0; end = ways_[end].begin)
      steps_.push_back({ways_[end].begin, end, ways_[end].id});
    return steps_;
  }

 private:
  static constexpr auto nowhere = static_cast<std::size_t>(-1);
  struct Way {
    Score score = 0;
    TokenId id = 0;
    std::size_t begin = nowhere;  // of the last step

    void improve(double other, std::size_t other_begin, TokenId other_id) {
      if (begin != nowhere && !(other > static_cast<double>(score))) return;
      score = static_cast<Score>(other);
      begin = other_begin;
      id = other_id;
    }
  };
  std::vector<Way> ways_;  // by the place in the text where they end
  std::vector<Step> steps_;
};

}  // namespace qkv::tokenizing
