#include "qkv/tokenizer/piece_bpe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/added_tokens.hpp"
#include "qkv/tokenizer/hash.hpp"
#include "qkv/tokenizer/piece_cache.hpp"
#include "qkv/tokenizer/piece_table.hpp"

namespace qkv::tokenizing {
namespace {

constexpr auto none = Vocabulary::none;

/// A character, or a byte that is part of none, as one number.
std::uint32_t code_at(std::string_view text, std::size_t at, const Utf8Step& step) {
  constexpr std::uint32_t first_invalid = 0x110000;
  return step.codepoint >= 0 ? static_cast<std::uint32_t>(step.codepoint)
                             : first_invalid + static_cast<unsigned char>(text[at]);
}

/// Which two characters stand next to each other in any piece. Where two neighbours do not, nothing is ever joined
/// across, so the text can be cut there and its parts remembered. May say yes wrongly (two pairs may share a bit),
/// never no.
class NeighbourFilter {
 public:
  explicit NeighbourFilter(std::size_t n_pieces) : bits_(table_size(std::max<std::size_t>(n_pieces * 4, 1U << 17U))) {}

  void add(std::string_view piece) {
    for_each_pair(piece, [&](std::size_t, std::uint32_t left, std::uint32_t right) { bits_[bit(left, right)] = true; });
  }
  [[nodiscard]] bool has(std::uint32_t left, std::uint32_t right) const { return bits_[bit(left, right)]; }

  /// Calls `each` with the place between two characters, and the two.
  template <typename Each>
  static void for_each_pair(std::string_view text, Each&& each) {
    if (text.empty()) return;
    auto step = utf8_next(text, 0);
    auto left = code_at(text, 0, step);
    for (auto at = step.length; at < text.size(); at += step.length) {
      step = utf8_next(text, at);
      const auto right = code_at(text, at, step);
      each(at, left, right);
      left = right;
    }
  }

 private:
  [[nodiscard]] std::size_t bit(std::uint32_t left, std::uint32_t right) const {
    return mix((std::uint64_t{left} << 32U) | right) & (bits_.size() - 1);
  }
  std::vector<bool> bits_;
};

class PieceBpe final : public TokenModel {
 public:
  explicit PieceBpe(PieceTable pieces) : pieces_(std::move(pieces)), filter_(pieces_.vocabulary().size()) {
    const auto& all = pieces_.vocabulary().entries().pieces;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (pieces_.find(all[i]) != none) filter_.add(all[i]);
    for (const auto id : pieces_.user_defined())
      user_defined_.add(*pieces_.vocabulary().piece(id), static_cast<std::size_t>(id));
    // How an unused piece is taken apart depends on where in the text it was put together last.
    can_cut_ = !pieces_.has_kind(PieceKind::unused);
  }

  std::unique_ptr<TokenModelRun> start() const override;
  const Vocabulary& vocabulary() const override { return pieces_.vocabulary(); }
  std::string_view name() const override {
    return pieces_.has_bytes() ? "BPE by scores with byte fallback" : "BPE by scores";
  }

  const PieceTable& pieces() const { return pieces_; }
  const NeighbourFilter& filter() const { return filter_; }
  const StringFinder& user_defined() const { return user_defined_; }
  bool can_cut() const { return can_cut_; }

 private:
  PieceTable pieces_;
  NeighbourFilter filter_;
  StringFinder user_defined_;
  bool can_cut_;
};

/// Joins the characters of one text: a queue of joins that may be made, the best one first, over a doubly linked list
/// of the parts that are left. Takes O(n log n) steps.
class PieceJoiner {
 public:
  explicit PieceJoiner(const PieceTable& pieces) : pieces_(pieces) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) {
    text_ = text;
    begin_ = ids.size();
    joined_from_.clear();
    find_characters();
    for (std::uint32_t i = 0; i + 1 < parts_.size(); ++i) look_up(i);
    while (!queue_.empty()) {
      const auto join = queue_.top();
      queue_.pop();
      apply(join);
    }
    for (std::uint32_t at = 0; at != nowhere && !parts_.empty(); at = parts_[at].next) append(parts_[at], ids);
  }

 private:
  static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
  struct Part {
    std::uint32_t begin;
    std::uint32_t length;  // 0: joined to the part on its left
    std::uint32_t previous;
    std::uint32_t next;
    TokenId id;  // or none
  };
  struct Join {
    float score;
    std::uint32_t left;
    std::uint32_t length;  // of both together
    TokenId id;
    friend bool operator<(const Join& a, const Join& b) {
      return a.score != b.score ? a.score < b.score : a.left > b.left;
    }
  };

  void find_characters() {
    parts_.clear();
    for (std::size_t at = 0; at < text_.size();) {
      const auto length = utf8_next(text_, at).length;
      const auto i = static_cast<std::uint32_t>(parts_.size());
      parts_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), i == 0 ? nowhere : i - 1,
                        i + 1, pieces_.find(text_.substr(at, length))});
      at += length;
    }
    if (!parts_.empty()) parts_.back().next = nowhere;
  }

  void look_up(std::uint32_t left) {
    const auto right = parts_[left].next;
    const auto length = parts_[left].length + parts_[right].length;
    const auto together = text_.substr(parts_[left].begin, length);
    const auto id = pieces_.find(together);
    if (id == none) return;
    queue_.push({pieces_.score(id), left, length, id});
    if (pieces_.kind(id) == PieceKind::unused) joined_from_[together] = parts_[left].length;
  }

  void apply(const Join& join) {
    auto& left = parts_[join.left];
    // One of the two may be part of something else by now.
    if (left.length == 0 || left.next == nowhere || left.length + parts_[left.next].length != join.length) return;
    auto& right = parts_[left.next];
    left.length = join.length;
    left.id = join.id;
    left.next = right.next;
    if (left.next != nowhere) parts_[left.next].previous = join.left;
    right.length = 0;
    if (left.previous != nowhere) look_up(left.previous);
    if (left.next != nowhere) look_up(join.left);
  }

  /// An unused piece is taken apart into what it was last put together from.
  void append(const Part& part, std::vector<TokenId>& ids) {
    std::vector<std::pair<std::string_view, TokenId>> open{{text_.substr(part.begin, part.length), part.id}};
    while (!open.empty()) {
      const auto [piece, id] = open.back();
      open.pop_back();
      const bool is_unused = id != none && pieces_.kind(id) == PieceKind::unused;
      const auto from = is_unused ? joined_from_.find(piece) : joined_from_.end();
      if (from != joined_from_.end()) {
        const auto left = piece.substr(0, from->second);
        const auto right = piece.substr(from->second);
        open.emplace_back(right, pieces_.find(right));
        open.emplace_back(left, pieces_.find(left));
      } else if (id != none) {
        ids.push_back(id);
      } else {
        pieces_.append_unknown(piece, begin_, ids);
      }
    }
  }

  const PieceTable& pieces_;
  std::string_view text_;
  std::size_t begin_ = 0;  // of this text's ids
  std::vector<Part> parts_;
  std::priority_queue<Join> queue_;
  std::unordered_map<std::string_view, std::size_t> joined_from_;  // unused piece -> length of its left half
};

class PieceBpeRun final : public TokenModelRun {
 public:
  explicit PieceBpeRun(const PieceBpe& model) : model_(model), joiner_(model.pieces()) {}

  void encode(std::string_view piece, std::vector<TokenId>& ids) override {
    // Places in a piece are 32-bit.
    if (piece.size() >= std::numeric_limits<std::uint32_t>::max())
      throw Error(ErrorCode::input,
                  fmt::format("text: expected pieces of fewer than 2^32 bytes, found {}", piece.size()));
    begin_ = ids.size();
    if (model_.pieces().user_defined().empty()) return encode_text(piece, ids);
    std::size_t done = 0;
    while (const auto found = model_.user_defined().find(piece, done, [](std::size_t) { return true; })) {
      encode_text(piece.substr(done, found->begin - done), ids);
      ids.push_back(static_cast<TokenId>(found->index));
      done = found->end;
    }
    encode_text(piece.substr(done), ids);
  }

 private:
  void encode_text(std::string_view text, std::vector<TokenId>& ids) {
    std::size_t done = 0;
    if (model_.can_cut())
      NeighbourFilter::for_each_pair(text, [&](std::size_t at, std::uint32_t left, std::uint32_t right) {
        if (model_.filter().has(left, right)) return;
        encode_part(text.substr(done, at - done), ids);
        done = at;
      });
    encode_part(text.substr(done), ids);
  }

  void encode_part(std::string_view part, std::vector<TokenId>& ids) {
    if (part.empty()) return;
    if (const auto known = cache_.find(part)) return append(*known, ids);
    part_ids_.clear();
    joiner_.encode(part, part_ids_);
    if (part.size() <= PieceCache::longest_piece) cache_.insert(part, part_ids_);
    append(part_ids_, ids);
  }

  /// Unknown pieces in a row are one.
  void append(std::span<const TokenId> part, std::vector<TokenId>& ids) const {
    const auto unknown = model_.pieces().unknown();
    const bool goes_on = !part.empty() && part.front() == unknown && ids.size() > begin_ && ids.back() == unknown;
    ids.insert(ids.end(), part.begin() + (goes_on ? 1 : 0), part.end());
  }

  const PieceBpe& model_;
  PieceJoiner joiner_;
  PieceCache cache_;
  std::size_t begin_ = 0;  // of this piece's ids
  std::vector<TokenId> part_ids_;
};

std::unique_ptr<TokenModelRun> PieceBpe::start() const { return std::make_unique<PieceBpeRun>(*this); }

}  // namespace

std::unique_ptr<const TokenModel> make_piece_bpe(PieceTable pieces) {
  return std::make_unique<PieceBpe>(std::move(pieces));
}

}  // namespace qkv::tokenizing
